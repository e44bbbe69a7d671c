//! Reading the body of a request, within limits.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{timeout, timeout_at};

use super::budget::{self, OutOfMemory, Reservation};

/// Most bytes that are allocated for a body because its client declares its length, before they arrive.
const MAX_RESERVED: usize = 256 << 10;

/// How long the rest of a refused body is read.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// A body that takes longer is slow.
const SLOW: Duration = Duration::from_millis(500);

/// Why a body cannot be read.
#[derive(Debug)]
pub(super) enum BodyError {
    TooLarge,
    TimedOut,
    /// The connection failed, or the body is not encoded correctly.
    Broken(hyper::Error),
    Memory(OutOfMemory),
}

impl From<OutOfMemory> for BodyError {
    fn from(error: OutOfMemory) -> Self {
        Self::Memory(error)
    }
}

/// The limits of one body.
pub(super) struct BodyLimits {
    pub(super) max_bytes: usize,
    /// When the head of the request was read.
    pub(super) arrival: Instant,
    /// How long the body may take from then on.
    pub(super) timeout: Duration,
}

/// Reads the whole body, and reserves the memory for it and for the values that are made of it.
pub(super) async fn read(
    body: &mut Incoming,
    limits: BodyLimits,
    memory: &mut Reservation,
) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > u64::try_from(limits.max_bytes).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge);
    }
    let deadline = limits.arrival + limits.timeout;
    let bytes = timeout_at(deadline.into(), collect(body, &limits, memory)).await;
    let bytes = bytes.unwrap_or(Err(BodyError::TimedOut))?;
    memory.grow(budget::estimate(&bytes).saturating_sub(bytes.len())).await?;
    Ok(bytes)
}

async fn collect(
    body: &mut Incoming,
    limits: &BodyLimits,
    memory: &mut Reservation,
) -> Result<Bytes, BodyError> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    let Some(first) = next_reserved(body, limits, memory).await? else { return Ok(Bytes::new()) };
    if first.len() > limits.max_bytes {
        return Err(BodyError::TooLarge);
    }
    // Most bodies come in one piece, which then needs no copy.
    if body.is_end_stream() {
        return Ok(first);
    }
    let Some(mut piece) = next_reserved(body, limits, memory).await? else { return Ok(first) };
    let mut whole = BytesMut::with_capacity(declared.min(MAX_RESERVED));
    whole.extend_from_slice(&first);
    loop {
        if whole.len() + piece.len() > limits.max_bytes {
            return Err(BodyError::TooLarge);
        }
        whole.extend_from_slice(&piece);
        match next_reserved(body, limits, memory).await? {
            Some(next) => piece = next,
            None => return Ok(whole.freeze()),
        }
    }
}

/// The next piece, with its memory reserved. Refuses a slow body while the budget is under pressure: a client
/// must not hold memory that others need by not sending.
async fn next_reserved(
    body: &mut Incoming,
    limits: &BodyLimits,
    memory: &mut Reservation,
) -> Result<Option<Bytes>, BodyError> {
    loop {
        let piece = timeout(SLOW, next(body)).await;
        if limits.arrival.elapsed() > SLOW && memory.is_under_pressure() {
            return Err(BodyError::Memory(OutOfMemory::Exhausted));
        }
        match piece {
            Ok(Ok(Some(piece))) => {
                memory.grow(piece.len()).await?;
                return Ok(Some(piece));
            }
            Ok(ended) => return ended,
            Err(_elapsed) => {}
        }
    }
}

/// The next piece that holds data.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        // Trailers are skipped.
        if let Ok(data) = frame.map_err(BodyError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Reads and drops the rest of a refused body, up to `limit` bytes. Returns whether that was all of it.
///
/// A client that is still sending when the connection is closed sees a reset instead of the answer. A client
/// that waits for `100 Continue` has nothing to send.
pub(super) async fn discard(headers: &HeaderMap, body: &mut Incoming, limit: usize) -> bool {
    if body.is_end_stream() {
        return true;
    }
    let too_long = body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX);
    if too_long || headers.contains_key(header::EXPECT) {
        return false;
    }
    let deadline = Instant::now() + DISCARD_TIMEOUT;
    let mut left = limit;
    let all = async {
        while let Ok(Some(piece)) = next(body).await {
            match left.checked_sub(piece.len()) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        true
    };
    timeout_at(deadline.into(), all).await.unwrap_or(false)
}
