//! The flags. Their names follow Karmada's components; each also reads an environment variable `REVISER_...`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::app::LedgerChoice;
use crate::domain::{ClusterName, TargetCluster, parse_duration};
use crate::telemetry::{LogFilter, LogFormat};

#[derive(Debug, Parser)]
#[command(name = "reviser", version, about = "Gives every member cluster its own version of a workload")]
#[command(
    after_help = "Exit codes: 0 fine; 1 findings, or an input that is refused; 2 a usage or internal error."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The command line, with what only one of several commands requires of the flags that they share.
pub(super) fn command() -> clap::Command {
    let required = |arg: clap::Arg| arg.required(true);
    Arguments::command()
        .mut_subcommand("preview", |preview| {
            preview.mut_arg("filenames", required).mut_arg("clusters", required)
        })
        .mut_subcommand("check", |check| {
            check.mut_arg("clusters", |clusters| {
                clusters.help(
                    "The schedule to try, in binding order: NAME=REPLICAS, separated by commas; if left out, the clusters in --state, or those \
                     that the policies name and two more",
                )
            })
        })
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the webhooks over HTTPS: Karmada's interpreter, and the admission of its Works
    Serve(ServeArgs),
    /// Show what each cluster would get; no server, no cluster
    Preview(PreviewArgs),
    /// Check policy documents and tell every finding
    Check(CheckArgs),
    /// Make a certificate authority and a server certificate
    Certs(CertsArgs),
    /// Print the webhook configuration for a caller, matched to what the policies select, or the custom resource definitions
    Manifests(ManifestsArgs),
    /// Print a completion script for a shell
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    /// Policy documents; if left out, the custom resources of the API server, or without one the built-in example
    #[arg(short, long = "policy", value_name = "FILE|DIR", env = "REVISER_POLICY", value_delimiter = ',')]
    pub(super) policies: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The address to serve HTTPS on
    #[arg(long, value_name = "IP", default_value = "0.0.0.0", env = "REVISER_BIND_ADDRESS", value_parser = ip)]
    pub(super) bind_address: IpAddr,
    /// The port to serve HTTPS on; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8443, allow_negative_numbers = true, value_parser = port, env = "REVISER_SECURE_PORT")]
    pub(super) secure_port: u16,
    /// The directory of tls.crt and tls.key; a self-signed pair in memory if left out
    #[arg(long, value_name = "DIR", env = "REVISER_CERT_DIR")]
    pub(super) cert_dir: Option<PathBuf>,
    /// Require client certificates of these authorities
    #[arg(long, value_name = "FILE", env = "REVISER_CLIENT_CA_FILE")]
    pub(super) client_ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) policies: PolicyArgs,
    /// Read policies, bindings, Works and clusters from the API server of this kubeconfig's current context
    #[arg(long, value_name = "FILE", env = "REVISER_KUBECONFIG", conflicts_with_all = ["in_cluster", "state"])]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Read them from the API server of the cluster that this is a pod of, as its service account
    #[arg(long, env = "REVISER_IN_CLUSTER", conflicts_with = "state")]
    pub(super) in_cluster: bool,
    /// Without an API server: bindings, clusters and Works, as kubectl prints them; read again when they change
    #[arg(long, value_name = "FILE|DIR", env = "REVISER_STATE", value_delimiter = ',')]
    pub(super) state: Vec<PathBuf>,
    /// Where allocations are remembered: `memory`, `file:PATH`, or `kubernetes` (on the bindings). If left out: kubernetes with
    /// an API server, else memory, with a warning
    #[arg(long, value_name = "LEDGER", env = "REVISER_LEDGER")]
    pub(super) ledger: Option<LedgerChoice>,
    /// The namespace of the lease by which one of several replicas is elected; that of the pod with --in-cluster, else reviser-system
    #[arg(long, value_name = "NAMESPACE", env = "REVISER_LEADER_ELECT_RESOURCE_NAMESPACE")]
    pub(super) leader_elect_resource_namespace: Option<String>,
    /// How long replicas wait for an elected one that they have not heard from
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration, env = "REVISER_LEADER_ELECT_LEASE_DURATION")]
    pub(super) leader_elect_lease_duration: Duration,
    /// How long the elected one goes on without having renewed its lease; less than the lease duration
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, env = "REVISER_LEADER_ELECT_RENEW_DEADLINE")]
    pub(super) leader_elect_renew_deadline: Duration,
    /// How long to wait between two attempts to get or renew the lease; less than the renew deadline
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration, env = "REVISER_LEADER_ELECT_RETRY_PERIOD")]
    pub(super) leader_elect_retry_period: Duration,
    /// The address to serve /livez, /readyz and /metrics on, in plain HTTP
    #[arg(
        long,
        value_name = "IP:PORT",
        default_value = "127.0.0.1:8080",
        value_parser = ip_and_port,
        env = "REVISER_ADMIN_BIND_ADDRESS"
    )]
    pub(super) admin_bind_address: SocketAddr,
    /// What the log looks like: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", env = "REVISER_LOG_FORMAT")]
    pub(super) log_format: LogFormat,
    /// What gets into the log: a level, or directives such as info,reviser=debug
    #[arg(long, value_name = "LEVEL", default_value_t, env = "REVISER_LOG_LEVEL")]
    pub(super) log_level: LogFilter,
    /// The longest request body
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20, allow_negative_numbers = true, env = "REVISER_MAX_BODY_BYTES", value_parser = at_least_one)]
    pub(super) max_body_bytes: usize,
    /// How long to go on serving, not ready, after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = 5, allow_negative_numbers = true, env = "REVISER_DRAIN_SECONDS", value_parser = seconds)]
    pub(super) drain_seconds: u32,
}

fn ip(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "it is an IP address, for instance 10.0.0.1; names are not looked up".to_owned())
}

fn ip_and_port(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "it is IP:PORT, for instance 127.0.0.1:8080 or [::1]:8080".to_owned())
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("it is a port, from 0 to {}", u16::MAX))
}

fn seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "it is a whole number of seconds, 0 or more".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "it is a duration, such as 15s, 1m or 1m30s";
    parse_duration(text).filter(|duration| !duration.is_zero()).ok_or_else(|| FORM.to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "it is a number of bytes, at least 1".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PreviewFormat {
    /// What changes, for people
    Diff,
    /// The objects, a document for each cluster
    Yaml,
    /// The objects, in one document for programs
    Json,
    /// The JSON patch that the webhook would answer with
    Patch,
    /// What each rule does or why it does nothing, for people
    Explain,
}

/// What `preview` and `check` try policies on. `preview` requires `--filename` and `--clusters`.
#[derive(Debug, Args)]
pub(super) struct TrialArgs {
    /// Objects as they stand before the hook, replicas and overrides applied: every document and every item of a List; - for standard input
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "FILE|DIR",
        value_delimiter = ',',
        env = "REVISER_FILENAME"
    )]
    pub(super) filenames: Vec<PathBuf>,
    /// The resource template that `original` and `divide` read; if left out, the object itself
    #[arg(long, value_name = "FILE", env = "REVISER_ORIGINAL")]
    pub(super) original: Option<PathBuf>,
    /// The schedule in binding order: NAME=REPLICAS, separated by commas
    #[arg(long, value_name = "NAME=REPLICAS", value_delimiter = ',', value_parser = target_cluster, env = "REVISER_CLUSTERS")]
    pub(super) clusters: Vec<TargetCluster>,
    /// Labels of clusters: CLUSTER:KEY=VALUE, separated by commas
    #[arg(long, value_name = "CLUSTER:KEY=VALUE", value_delimiter = ',', value_parser = cluster_label, env = "REVISER_CLUSTER_LABELS")]
    pub(super) cluster_labels: Vec<ClusterLabel>,
    /// Clusters and Works as kubectl prints them; replicas come from --clusters alone
    #[arg(long, value_name = "FILE|DIR", env = "REVISER_STATE", value_delimiter = ',')]
    pub(super) state: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct PreviewArgs {
    #[command(flatten)]
    pub(super) policies: PolicyArgs,
    #[command(flatten)]
    pub(super) trial: TrialArgs,
    /// Only this cluster
    #[arg(long, value_name = "NAME", value_parser = cluster_name, env = "REVISER_CLUSTER")]
    pub(super) cluster: Option<ClusterName>,
    /// Where an allocation is already: NAME=CLUSTER
    #[arg(long = "allocation", value_name = "NAME=CLUSTER", value_delimiter = ',', value_parser = allocation, env = "REVISER_ALLOCATION")]
    pub(super) allocations: Vec<(String, ClusterName)>,
    /// What to print
    #[arg(short, long, value_enum, default_value = "diff", env = "REVISER_OUTPUT")]
    pub(super) output: PreviewFormat,
}

fn cluster_name(text: &str) -> Result<ClusterName, String> {
    ClusterName::new(text.trim()).ok_or_else(|| "a cluster has a name".to_owned())
}

fn target_cluster(text: &str) -> Result<TargetCluster, String> {
    const FORM: &str = "it is NAME=REPLICAS, for instance cluster-x=3; 0 is a number too";
    let (name, replicas) = text.split_once('=').ok_or(FORM)?;
    let replicas = replicas.trim().parse::<i32>().ok().filter(|replicas| *replicas >= 0).ok_or(FORM)?;
    Ok(TargetCluster { name: cluster_name(name)?, replicas: replicas.into() })
}

fn allocation(text: &str) -> Result<(String, ClusterName), String> {
    let (name, cluster) = text.split_once('=').ok_or("it is NAME=CLUSTER, for instance fort=cluster-x")?;
    Ok((name.trim().to_owned(), cluster_name(cluster)?))
}

/// A label of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClusterLabel {
    pub(super) cluster: ClusterName,
    pub(super) key: String,
    pub(super) value: String,
}

fn cluster_label(text: &str) -> Result<ClusterLabel, String> {
    const FORM: &str = "it is CLUSTER:KEY=VALUE, for instance cluster-x:region=eu";
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
    /// Definitions of custom resources as the members have them, for what they make of the fields that `fort` writes
    #[arg(long = "crd", value_name = "FILE", env = "REVISER_CRD", value_delimiter = ',')]
    pub(super) definitions: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CertsArgs {
    /// The directory to write ca.crt, ca.key, tls.crt and tls.key to
    #[arg(long, value_name = "DIR", env = "REVISER_OUT")]
    pub(super) out: PathBuf,
    /// Names that the server is reached by
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', env = "REVISER_DNS", required_unless_present = "ip")]
    pub(super) dns: Vec<String>,
    /// Addresses that the server is reached by
    #[arg(long, value_name = "IP", num_args = 1.., value_delimiter = ',', env = "REVISER_IP", value_parser = ip)]
    pub(super) ip: Vec<IpAddr>,
    /// Replace the server certificate that is there, and keep the authority
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
    /// Karmada's resource interpreter; the configuration is for Karmada's API server
    KarmadaInterpreter,
    /// Admission of Works, by which Karmada delivers; the configuration is for Karmada's API server too
    KarmadaWorks,
    /// Admission of pods in a source of Admiralty; the configuration is for the source's API server
    AdmiraltySource,
    /// Admission of pods on their way into a target of Admiralty; the configuration is for the target's API server
    AdmiraltyTarget,
    /// Admission of policies that are custom resources; the configuration is for the API server that holds them
    Policies,
    /// No webhook: the custom resource definitions of the policies, to apply with kubectl apply --server-side
    Crds,
}

#[derive(Debug, Args)]
pub(super) struct ManifestsArgs {
    /// Who calls the webhook, or crds
    #[arg(long = "for", value_enum, value_name = "CALLER", env = "REVISER_FOR")]
    pub(super) purpose: ManifestsFor,
    /// Where the caller reaches the server: https, host and port; the path is added, but for admiralty-target it has to be
    /// /mutate/podchaperons/NAME, NAME being what the source calls the target. Required for all but crds
    #[arg(long, value_name = "URL", env = "REVISER_URL", required_if_eq_any = FOR_CALLERS)]
    pub(super) url: Option<String>,
    /// The certificates of the authorities that it is to trust; those of its system if left out
    #[arg(long, value_name = "FILE", env = "REVISER_CA_FILE")]
    pub(super) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) policies: PolicyArgs,
}
