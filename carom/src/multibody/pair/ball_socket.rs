//! A ball in a socket: a sphere inside a hollow sphere.
//!
//! ```text
//!     gap = R − r − |c|,      n = −c/|c|,      c from the centre of the socket to that of the ball                 (1)
//! ```
//!
//! In the middle of the socket the normal is undefined; the gap is R − r > 0 there and any normal does.

use super::geometry::{offset, polar, tangent};
use super::{Pair, Socket, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Socket on body a, ball on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallSocket {
    /// On body a.
    pub socket: Socket,
    /// On body b.
    pub ball: Sphere,
}

impl Pair for BallSocket {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (socket, ball) = (&self.socket, &self.ball);
        let c = offset(frames, socket.centre, ball.centre);
        let (distance, outward) = polar(c, || Vector::constant([1.0, 0.0, 0.0]));
        let normal = -outward;
        Touch {
            gap: -distance + (socket.radius - ball.radius),
            normal,
            on_a: frames.0.point(socket.centre) + outward * T::from(socket.radius),
            on_b: frames.1.point(ball.centre) + outward * T::from(ball.radius),
            tangent: tangent(normal),
        }
    }
}
