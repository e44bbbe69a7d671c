//! The certificate that handshakes get.

use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::{
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::certs::Pair;

/// Gives each handshake the pair that is current then. Connections that are open keep theirs.
#[derive(Debug)]
pub(super) struct Resolver {
    current: ArcSwap<Pair>,
}

impl Resolver {
    pub(super) fn new(pair: Arc<Pair>) -> Self {
        Self { current: ArcSwap::new(pair) }
    }

    pub(super) fn pair(&self) -> Arc<Pair> {
        self.current.load_full()
    }

    pub(super) fn replace(&self, pair: Arc<Pair>) {
        self.current.store(pair);
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(self.current.load().certified_key()))
    }
}
