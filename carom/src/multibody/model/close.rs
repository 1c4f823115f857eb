//! Closing the joints at the start.

use super::*;
use crate::model::Space;

impl MultibodyModel {
    /// Counted angles at the start; then closes the joints, or refuses what is open.
    pub(in crate::multibody) fn close(&mut self, assembly: Option<f64>) -> Result<(), MultibodyError> {
        self.initial.q.truncate(self.plan.poses());
        self.initial.q.resize(self.plan.positions(), 0.0);
        self.motion.place(&self.plan, &self.initial.q);
        for (place, &i) in self.plan.counted.iter().enumerate() {
            self.initial.q[self.plan.poses() + place] = self.motion.coordinate(&self.plan, i);
        }
        let _ = assembly;
        for (i, &coordinate) in self.plan.drives.iter().enumerate() {
            self.motors[i].start = self.coordinate_at_start(coordinate);
        }
        let mut coupling = crate::Coupling::default();
        let (t, q) = (self.initial.t, self.initial.q.clone());
        self.couple(t, &q, &mut coupling)?;
        Ok(())
    }

    fn coordinate_at_start(&mut self, i: usize) -> f64 {
        self.motion.place(&self.plan, &self.initial.q);
        self.motion.coordinate(&self.plan, i)
    }
}
