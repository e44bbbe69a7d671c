//! The flags. Their names follow Karmada's components. Each can also be set by an environment variable
//! `REVISER_...`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::app::LedgerChoice;
use crate::domain::{ClusterName, TargetCluster, parse_duration};
use crate::telemetry::{LogFilter, LogFormat};

#[derive(Debug, Parser)]
#[command(name = "reviser", version, about = "Gives every member cluster its own version of a workload")]
#[command(after_help = "Exit codes: 0 success; 1 findings or refused input; 2 usage or internal error.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The command line. Flags that commands share are adapted here to what each requires.
pub(super) fn command() -> clap::Command {
    let required = |arg: clap::Arg| arg.required(true);
    Arguments::command()
        .mut_subcommand("preview", |preview| {
            preview.mut_arg("filenames", required).mut_arg("clusters", required)
        })
        .mut_subcommand("check", |check| {
            check.mut_arg("clusters", |clusters| {
                clusters.help(
                    "The schedule to try, in binding order: NAME=REPLICAS, separated by commas. Default: the clusters in --state, else \
                     the clusters that the policies name and two more",
                )
            })
        })
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the webhooks over HTTPS
    Serve(ServeArgs),
    /// Show what each cluster would get, without a server or a cluster
    Preview(PreviewArgs),
    /// Check policy documents and print all findings
    Check(CheckArgs),
    /// Create a certificate authority and a server certificate
    Certs(CertsArgs),
    /// Print the webhook configuration for a caller, matched to what the policies select, or the custom
    /// resource definitions
    Manifests(ManifestsArgs),
    /// Print a completion script for a shell
    Completion { shell: clap_complete::Shell },
}

#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    /// Policy documents. Default: the custom resources of the API server, or without an API server the
    /// built-in example
    #[arg(short, long = "policy", value_name = "FILE|DIR", env = "REVISER_POLICY", value_delimiter = ',')]
    pub(super) policies: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Address to serve HTTPS on
    #[arg(long, value_name = "IP", default_value = "0.0.0.0", env = "REVISER_BIND_ADDRESS", value_parser = ip)]
    pub(super) bind_address: IpAddr,
    /// Port to serve HTTPS on; 0 chooses a free port
    #[arg(long, value_name = "PORT", default_value_t = 8443, allow_negative_numbers = true, value_parser = port, env = "REVISER_SECURE_PORT")]
    pub(super) secure_port: u16,
    /// Directory with tls.crt and tls.key. Default: a self-signed certificate in memory
    #[arg(long, value_name = "DIR", env = "REVISER_CERT_DIR")]
    pub(super) cert_dir: Option<PathBuf>,
    /// Require client certificates that are signed by these authorities
    #[arg(long, value_name = "FILE", env = "REVISER_CLIENT_CA_FILE")]
    pub(super) client_ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) policies: PolicyArgs,
    /// Kubeconfig whose current context is the API server to read policies, bindings, Works and clusters from
    #[arg(long, value_name = "FILE", env = "REVISER_KUBECONFIG", conflicts_with_all = ["in_cluster", "state"])]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Read them from the API server of this pod's cluster, with its service account
    #[arg(long, env = "REVISER_IN_CLUSTER", conflicts_with = "state")]
    pub(super) in_cluster: bool,
    /// Bindings, clusters and Works as kubectl prints them, in place of an API server; read again when they
    /// change
    #[arg(long, value_name = "FILE|DIR", env = "REVISER_STATE", value_delimiter = ',')]
    pub(super) state: Vec<PathBuf>,
    /// Where allocations are stored: `memory`, `file:PATH`, or `kubernetes` (on the bindings). Default:
    /// kubernetes with an API server, else memory, with a warning
    #[arg(long, value_name = "LEDGER", env = "REVISER_LEDGER")]
    pub(super) ledger: Option<LedgerChoice>,
    /// Namespace of the Lease for leader election. Default: the pod's namespace with --in-cluster, else
    /// reviser-system
    #[arg(long, value_name = "NAMESPACE", env = "REVISER_LEADER_ELECT_RESOURCE_NAMESPACE")]
    pub(super) leader_elect_resource_namespace: Option<String>,
    /// How long other replicas wait for a leader that does not renew its lease
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration, env = "REVISER_LEADER_ELECT_LEASE_DURATION")]
    pub(super) leader_elect_lease_duration: Duration,
    /// How long the leader tries to renew its lease before it steps down; less than the lease duration
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, env = "REVISER_LEADER_ELECT_RENEW_DEADLINE")]
    pub(super) leader_elect_renew_deadline: Duration,
    /// Time between two attempts to acquire or renew the lease; less than the renew deadline
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration, env = "REVISER_LEADER_ELECT_RETRY_PERIOD")]
    pub(super) leader_elect_retry_period: Duration,
    /// Address to serve /livez, /readyz and /metrics on, in plain HTTP
    #[arg(
        long,
        value_name = "IP:PORT",
        default_value = "127.0.0.1:8080",
        value_parser = ip_and_port,
        env = "REVISER_ADMIN_BIND_ADDRESS"
    )]
    pub(super) admin_bind_address: SocketAddr,
    /// Log format: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", env = "REVISER_LOG_FORMAT")]
    pub(super) log_format: LogFormat,
    /// Log level, or directives such as info,reviser=debug
    #[arg(long, value_name = "LEVEL", default_value_t, env = "REVISER_LOG_LEVEL")]
    pub(super) log_level: LogFilter,
    /// Maximum size of a request body
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20, allow_negative_numbers = true, env = "REVISER_MAX_BODY_BYTES", value_parser = at_least_one)]
    pub(super) max_body_bytes: usize,
    /// Memory for all requests in flight: their bodies, and an estimate of the values made of them
    #[arg(long, value_name = "BYTES", default_value_t = 96 << 20, allow_negative_numbers = true, env = "REVISER_MEMORY_BUDGET", value_parser = at_least_one)]
    pub(super) memory_budget: usize,
    /// How long to keep serving, not ready, after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = 5, allow_negative_numbers = true, env = "REVISER_DRAIN_SECONDS", value_parser = seconds)]
    pub(super) drain_seconds: u32,
}

fn ip(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "use an IP address, for instance 10.0.0.1; names are not looked up".to_owned())
}

fn ip_and_port(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "use IP:PORT, for instance 127.0.0.1:8080 or [::1]:8080".to_owned())
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("use a port, from 0 to {}", u16::MAX))
}

fn seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "use a whole number of seconds, 0 or more".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "use a duration, such as 15s, 1m or 1m30s";
    parse_duration(text).filter(|duration| !duration.is_zero()).ok_or_else(|| FORM.to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|bytes| *bytes > 0).ok_or_else(|| "use a number of bytes, at least 1".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PreviewFormat {
    /// What changes, as a diff
    Diff,
    /// The objects, one document per cluster
    Yaml,
    /// The objects, in one document
    Json,
    /// The JSON patch of the webhook's reply
    Patch,
    /// What each rule does, or why it does nothing
    Explain,
}

/// What `preview` and `check` try policies on.
#[derive(Debug, Args)]
pub(super) struct TrialArgs {
    /// Objects as the webhook gets them, with replicas and override policies applied; - for standard input.
    /// Every document and every item of a List is read
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "FILE|DIR",
        value_delimiter = ',',
        env = "REVISER_FILENAME"
    )]
    pub(super) filenames: Vec<PathBuf>,
    /// The resource templates that `original` and `divide` read. Default: the objects themselves
    #[arg(long, value_name = "FILE", env = "REVISER_ORIGINAL")]
    pub(super) original: Option<PathBuf>,
    /// The schedule in binding order: NAME=REPLICAS, separated by commas
    #[arg(long, value_name = "NAME=REPLICAS", value_delimiter = ',', value_parser = target_cluster, env = "REVISER_CLUSTERS")]
    pub(super) clusters: Vec<TargetCluster>,
    /// Labels of clusters: CLUSTER:KEY=VALUE, separated by commas
    #[arg(long, value_name = "CLUSTER:KEY=VALUE", value_delimiter = ',', value_parser = cluster_label, env = "REVISER_CLUSTER_LABELS")]
    pub(super) cluster_labels: Vec<ClusterLabel>,
    /// Clusters and Works as kubectl prints them; replicas come only from --clusters
    #[arg(long, value_name = "FILE|DIR", env = "REVISER_STATE", value_delimiter = ',')]
    pub(super) state: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct PreviewArgs {
    #[command(flatten)]
    pub(super) policies: PolicyArgs,
    #[command(flatten)]
    pub(super) trial: TrialArgs,
    /// Show only this cluster
    #[arg(long, value_name = "NAME", value_parser = cluster_name, env = "REVISER_CLUSTER")]
    pub(super) cluster: Option<ClusterName>,
    /// The cluster that an allocation is in already: NAME=CLUSTER
    #[arg(long = "allocation", value_name = "NAME=CLUSTER", value_delimiter = ',', value_parser = allocation, env = "REVISER_ALLOCATION")]
    pub(super) allocations: Vec<(String, ClusterName)>,
    /// Output format
    #[arg(short, long, value_enum, default_value = "diff", env = "REVISER_OUTPUT")]
    pub(super) output: PreviewFormat,
}

fn cluster_name(text: &str) -> Result<ClusterName, String> {
    ClusterName::new(text.trim()).ok_or_else(|| "the name of the cluster is empty".to_owned())
}

fn target_cluster(text: &str) -> Result<TargetCluster, String> {
    const FORM: &str = "use NAME=REPLICAS, for instance cluster-x=3; REPLICAS is 0 or more";
    let (name, replicas) = text.split_once('=').ok_or(FORM)?;
    let replicas = replicas.trim().parse::<i32>().ok().filter(|replicas| *replicas >= 0).ok_or(FORM)?;
    Ok(TargetCluster { name: cluster_name(name)?, replicas: replicas.into() })
}

fn allocation(text: &str) -> Result<(String, ClusterName), String> {
    let (name, cluster) = text.split_once('=').ok_or("use NAME=CLUSTER, for instance fort=cluster-x")?;
    Ok((name.trim().to_owned(), cluster_name(cluster)?))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClusterLabel {
    pub(super) cluster: ClusterName,
    pub(super) key: String,
    pub(super) value: String,
}

fn cluster_label(text: &str) -> Result<ClusterLabel, String> {
    const FORM: &str = "use CLUSTER:KEY=VALUE, for instance cluster-x:region=eu";
    let (cluster, label) = text.split_once(':').ok_or(FORM)?;
    let (key, value) = label.split_once('=').ok_or(FORM)?;
    let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
    if key.is_empty() {
        return Err(FORM.to_owned());
    }
    Ok(ClusterLabel { cluster: cluster_name(cluster)?, key, value })
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Policy documents
    #[arg(
        short,
        long = "policy",
        value_name = "FILE|DIR",
        required = true,
        env = "REVISER_POLICY",
        value_delimiter = ','
    )]
    pub(super) policies: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) trial: TrialArgs,
    /// CustomResourceDefinitions of the member clusters, to check the fields that rules write
    #[arg(long = "crd", value_name = "FILE", env = "REVISER_CRD", value_delimiter = ',')]
    pub(super) definitions: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CertsArgs {
    /// Directory to write ca.crt, ca.key, tls.crt and tls.key to
    #[arg(long, value_name = "DIR", env = "REVISER_OUT")]
    pub(super) out: PathBuf,
    /// DNS names of the server
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', env = "REVISER_DNS", required_unless_present = "ip")]
    pub(super) dns: Vec<String>,
    /// IP addresses of the server
    #[arg(long, value_name = "IP", num_args = 1.., value_delimiter = ',', env = "REVISER_IP", value_parser = ip)]
    pub(super) ip: Vec<IpAddr>,
    /// Replace an existing server certificate, and keep the authority
    #[arg(long, env = "REVISER_FORCE")]
    pub(super) force: bool,
}

/// The values of `--for` that need `--url`.
const FOR_CALLERS: [(&str, &str); 5] = [
    ("purpose", "karmada-interpreter"),
    ("purpose", "karmada-works"),
    ("purpose", "admiralty-source"),
    ("purpose", "admiralty-target"),
    ("purpose", "policies"),
];

/// What `reviser manifests` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ManifestsFor {
    /// Webhook of Karmada's resource interpreter, for Karmada's API server
    KarmadaInterpreter,
    /// Admission of Karmada's Works, for Karmada's API server
    KarmadaWorks,
    /// Admission of pods in a source of Admiralty, for the source's API server
    AdmiraltySource,
    /// Admission of pod chaperons in a target of Admiralty, for the target's API server
    AdmiraltyTarget,
    /// Validation of policies that are custom resources, for the API server that holds them
    Policies,
    /// The CustomResourceDefinitions of the policies, for kubectl apply --server-side
    Crds,
}

#[derive(Debug, Args)]
pub(super) struct ManifestsArgs {
    /// What to print
    #[arg(long = "for", value_enum, value_name = "CALLER", env = "REVISER_FOR")]
    pub(super) purpose: ManifestsFor,
    /// URL at which the caller reaches the server: https, host and port. The path is added, except for
    /// admiralty-target: there it is /mutate/podchaperons/NAME, where NAME is the name of the target in the
    /// source. Required for all but crds
    #[arg(long, value_name = "URL", env = "REVISER_URL", required_if_eq_any = FOR_CALLERS)]
    pub(super) url: Option<String>,
    /// Certificates of the authorities that the caller trusts. Default: the authorities of its system
    #[arg(long, value_name = "FILE", env = "REVISER_CA_FILE")]
    pub(super) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) policies: PolicyArgs,
}
