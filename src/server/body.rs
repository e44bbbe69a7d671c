//! Reading the body of a request, within limits.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout_at;

/// A body that comes in pieces is put together in a buffer of the size that its client declares, but of no
/// more than this until that much is really there.
const MAX_RESERVED: usize = 256 << 10;

/// How long to go on taking in what nobody wants.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no body to work with.
#[derive(Debug)]
pub(super) enum BodyError {
    /// Longer than the limit.
    TooLarge,
    /// Not there in time.
    TimedOut,
    /// The connection, or the encoding of the body, is broken.
    Broken(hyper::Error),
}

/// The whole body, which has to be there at `deadline`.
pub(super) async fn read(body: &mut Incoming, limit: usize, deadline: Instant) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge);
    }
    timeout_at(deadline.into(), collect(body, limit)).await.unwrap_or(Err(BodyError::TimedOut))
}

async fn collect(body: &mut Incoming, limit: usize) -> Result<Bytes, BodyError> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    let Some(first) = next(body).await? else { return Ok(Bytes::new()) };
    if first.len() > limit {
        return Err(BodyError::TooLarge);
    }
    // Most bodies come in one piece, which then needs no copy.
    if body.is_end_stream() {
        return Ok(first);
    }
    let Some(mut piece) = next(body).await? else { return Ok(first) };
    let mut whole = BytesMut::with_capacity(declared.min(MAX_RESERVED));
    whole.extend_from_slice(&first);
    loop {
        if whole.len() + piece.len() > limit {
            return Err(BodyError::TooLarge);
        }
        whole.extend_from_slice(&piece);
        match next(body).await? {
            Some(next) => piece = next,
            None => return Ok(whole.freeze()),
        }
    }
}

/// The next piece that holds data.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        // Trailers are of no interest.
        if let Ok(data) = frame.map_err(BodyError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Takes in what is left of a body that was refused, up to `limit` bytes, and says whether that was all.
///
/// A client that is still sending when the connection is closed sees a reset, and never the answer that
/// tells it why. So it gets to finish, unless that takes too much, or it waits to be told to begin.
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
