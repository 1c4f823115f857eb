//! Functions that a description brings along: loads and what motors do.

use crate::ModelError;

/// Most inputs of a function.
pub const MOST_INPUTS: usize = 24;

/// Most outputs of a function: a force and a moment.
pub const MOST_OUTPUTS: usize = 6;

/// A function of some numbers. Closures `|x: &[f64], out: &mut [f64]|` are functions.
pub trait Function: Send {
    /// `out ← f(x)`.
    fn value(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), ModelError>;

    /// `out ← f'(x) dx`; by differences of fourth order unless the function knows it.
    fn derivative(&mut self, x: &[f64], dx: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let size = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        out.fill(0.0);
        if size(dx) == 0.0 {
            return Ok(());
        }
        let step = 1e-3 * size(x).max(1e-3) / size(dx);
        let (mut moved, mut there) = ([0.0; MOST_INPUTS], [0.0; MOST_OUTPUTS]);
        let (moved, there) = (&mut moved[..x.len()], &mut there[..out.len()]);
        for (offset, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            moved.iter_mut().zip(x.iter().zip(dx)).for_each(|(m, (x, d))| *m = x + offset * step * d);
            self.value(moved, there)?;
            out.iter_mut().zip(there.iter()).for_each(|(o, f)| *o += weight * f / (12.0 * step));
        }
        Ok(())
    }

    /// The same function once more.
    fn copy(&self) -> Box<dyn Function>;
}

impl<F: FnMut(&[f64], &mut [f64]) + Clone + Send + 'static> Function for F {
    fn value(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self(x, out);
        Ok(())
    }

    fn copy(&self) -> Box<dyn Function> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Function> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

impl std::fmt::Debug for dyn Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Function")
    }
}
