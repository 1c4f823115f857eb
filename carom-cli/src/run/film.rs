//! Frames of a run, thinned out while it goes on; frames at impacts stay. Long steps have frames inside them, where the
//! scheme knows the motion there.

use carom::scheme::Motion;
use carom::simulation::StepView;
use carom_solve::{Archive, ArchiveError, Blank, Persist};

/// Most frames that are kept for their impacts.
const MOST_IMPACTS: usize = 400;
/// Most frames inside a step.
const MOST_INSIDE: f64 = 63.0;

/// Frames with whatever is known of them.
pub struct Film<T> {
    most: usize,
    /// Numbers that all frames may hold.
    budget: usize,
    stride: u64,
    /// Length of the run [s].
    span: f64,
    frames: Vec<Frame<T>>,
    impacts: usize,
    /// Numbers in all frames.
    held: usize,
    last: Option<(f64, T)>,
}

struct Frame<T> {
    t: f64,
    content: T,
    size: usize,
    impact: bool,
}

impl<T: Blank> Persist for Film<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Film { most: _, budget: _, stride, span: _, frames, impacts, held, last } = self;
        (stride, frames).persist(archive)?;
        (impacts, held, last).persist(archive)
    }
}

impl<T: Blank> Persist for Frame<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Frame { t, content, size, impact } = self;
        (t, content, size, impact).persist(archive)
    }
}

impl<T: Blank> Blank for Frame<T> {
    fn blank() -> Self {
        Frame { t: 0.0, content: T::blank(), size: 0, impact: false }
    }
}

impl<T: Clone> Film<T> {
    /// At most so many regular frames, and so many numbers.
    pub fn new(most: usize, budget: usize, span: f64) -> Self {
        Self { most, budget, stride: 1, span, frames: Vec::new(), impacts: 0, held: 0, last: None }
    }

    /// Takes a frame of so many numbers.
    pub fn push(&mut self, t: f64, content: T, size: usize, impact: bool) {
        self.impacts += usize::from(impact);
        self.held += size;
        self.frames.push(Frame { t, content, size, impact });
        while self.frames.len() - self.impacts > self.most || self.held > self.budget && self.frames.len() > 2 {
            let before = self.frames.len();
            self.halve();
            if self.frames.len() == before {
                break;
            }
        }
    }

    /// Every other regular frame goes; where there are none left, those of impacts become regular ones.
    fn halve(&mut self) {
        if self.frames.len() - self.impacts < 2 {
            self.frames.iter_mut().for_each(|frame| frame.impact = false);
            self.impacts = 0;
        }
        let mut keep = false;
        self.frames.retain(|frame| {
            keep = frame.impact || !keep;
            keep
        });
        self.held = self.frames.iter().map(|frame| frame.size).sum();
        self.stride = self.stride.saturating_mul(2);
    }

    /// Whether the end of a step becomes a frame, and if so whether an impact is the reason.
    pub fn wants(&self, view: &StepView<'_>) -> Option<bool> {
        let closed = view.acting().iter().any(|acting| acting.is_new);
        let impact = closed && self.impacts < MOST_IMPACTS;
        let end = view.end - view.to().t < 0.5 * view.step.advanced;
        (impact || end || view.index.is_multiple_of(self.stride)).then_some(impact)
    }

    /// The parts of a step, longer than the distance of frames, at which there are frames.
    pub fn inside(&self, view: &StepView<'_>) -> impl Iterator<Item = f64> + use<T> {
        let (from, to) = (view.from().t, view.to().t);
        let count = ((to - from) / self.span * self.most as f64 / 2.0).floor().min(MOST_INSIDE);
        let count = if view.stepper.motion() == Motion::Steps { 0.0 } else { count };
        (1..=count as u32).map(move |k| f64::from(k) / (count + 1.0))
    }

    /// Takes the end of a step, which is kept if it is the last one.
    pub fn end(&mut self, t: f64, content: T, size: usize, impact: bool) {
        self.last = Some((t, content.clone()));
        self.push(t, content, size, impact);
    }

    /// Of how many steps one is a frame.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Times and contents, the end among them.
    pub fn frames(&self) -> Vec<(f64, T)> {
        let mut frames: Vec<(f64, T)> = self.frames.iter().map(|frame| (frame.t, frame.content.clone())).collect();
        if let Some((t, content)) = &self.last
            && frames.last().is_none_or(|frame| frame.0 < *t)
        {
            frames.push((*t, content.clone()));
        }
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many frames come, numbers stay within the budget and times are in order.
    #[test]
    fn films_stay_within_their_budget() {
        for every in [1, 3] {
            let mut film = Film::new(100, 1000, 1.0);
            for k in 0..5000 {
                film.push(f64::from(k), k, 7, k % every == 0);
            }
            let frames = film.frames();
            assert!((50..=143).contains(&frames.len()), "{} frames", frames.len());
            assert!(film.held <= 1000 && frames.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
