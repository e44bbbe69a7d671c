//! Reserved local ports.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// A port of this machine that is reserved as long as this value lives.
///
/// A socket is bound to it that never listens. A server that shares ports (`SO_REUSEPORT`) can listen there,
/// go away and come back; the system gives the port to no other process meanwhile.
#[derive(Debug)]
pub(crate) struct Port {
    _socket: OwnedFd,
    number: u16,
}

impl Port {
    pub(crate) fn reserve() -> Self {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        fcntl_setfd(&socket, FdFlags::CLOEXEC).unwrap();
        sockopt::set_socket_reuseport(&socket, true).unwrap();
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
        Self { _socket: socket, number: address.port() }
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}
