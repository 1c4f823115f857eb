//! Slow and independent geometry: closest points by sampling and a search that halves its steps.

pub type V = [f64; 3];

pub fn add(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] + b[i])
}

pub fn sub(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] - b[i])
}

pub fn scale(a: V, f: f64) -> V {
    a.map(|x| x * f)
}

pub fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn norm(a: V) -> f64 {
    dot(a, a).sqrt()
}

pub fn unit(a: V) -> V {
    scale(a, 1.0 / norm(a))
}

/// A point from the line through `o` along the unit vector `d`.
pub fn from_line(p: V, o: V, d: V) -> f64 {
    norm(cross(sub(p, o), d))
}

/// A unit vector by two angles.
pub fn on_sphere(angles: &[f64]) -> V {
    let (st, ct) = angles[0].sin_cos();
    let (sp, cp) = angles[1].sin_cos();
    [st * cp, st * sp, ct]
}

/// The least value of a function of up to three numbers in these ranges: the best points of a grid, each improved by a
/// search along the axes and their diagonals whose steps are halved down to rounding.
pub fn least(ranges: &[[f64; 2]], points: usize, f: impl Fn(&[f64]) -> f64) -> f64 {
    let n = ranges.len();
    let at = |k: usize| -> Vec<f64> {
        let mut k = k;
        let part = |range: &[f64; 2]| {
            let i = k % points;
            k /= points;
            range[0] + (range[1] - range[0]) * (i as f64 + 0.5) / points as f64
        };
        ranges.iter().map(part).collect()
    };
    let mut starts: Vec<(f64, usize)> = (0..points.pow(n as u32)).map(|k| (f(&at(k)), k)).collect();
    starts.sort_by(|a, b| a.0.total_cmp(&b.0));
    starts.iter().take(3).map(|start| descend(ranges, points, at(start.1), &f)).fold(f64::INFINITY, f64::min)
}

fn descend(ranges: &[[f64; 2]], points: usize, mut x: Vec<f64>, f: &impl Fn(&[f64]) -> f64) -> f64 {
    let n = ranges.len();
    let mut best = f(&x);
    let mut step = 1.0 / points as f64;
    while step > 1e-12 {
        let mut moved = false;
        for k in 1..3usize.pow(n as u32) {
            let mut y = x.clone();
            let mut k = k;
            for (y, [low, high]) in y.iter_mut().zip(ranges) {
                let by = [0.0, 1.0, -1.0][k % 3] * step * (high - low);
                k /= 3;
                *y = (*y + by).clamp(*low, *high);
            }
            let value = f(&y);
            if value < best {
                (best, x, moved) = (value, y, true);
            }
        }
        if !moved {
            step *= 0.5;
        }
    }
    best
}
