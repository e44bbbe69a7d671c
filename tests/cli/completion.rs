//! `reviser completion`.

use crate::files::{Directory, assert_done};

#[test]
fn each_shell_gets_a_script_that_knows_the_commands_and_flags() {
    for (shell, first) in [
        ("bash", "_reviser() {\n"),
        ("zsh", "#compdef reviser\n"),
        ("fish", "# Print an optspec for argparse"),
    ] {
        let done = Directory::new().run(&["completion", shell]);
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(done.stdout.starts_with(first), "{shell}: {}", &done.stdout[..80]);
        for word in ["preview", "completion", "client-ca-file", "max-body-bytes"] {
            assert!(done.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn a_shell_that_nobody_knows_is_refused_with_those_that_are_known() {
    let done = Directory::new().run(&["completion", "tcl"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    let line = "error: invalid value 'tcl' for '<SHELL>'\n  [possible values: bash, elvish, fish, powershell, zsh]\n";
    assert!(done.stderr.starts_with(line), "{}", done.stderr);
    let done = Directory::new().run(&["completion"]);
    let text = "error: the following required arguments were not provided:\n  <SHELL>\n\n\
                Usage: reviser completion <SHELL>\n\nFor more information, try '--help'.\n";
    assert_done(&done, 2, "", text);
}
