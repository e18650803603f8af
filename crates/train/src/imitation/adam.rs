//! Adam with a limit on the length of the gradient.

const DECAY: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// Maximum length of a gradient. Longer gradients are scaled down.
const LONGEST: f64 = 1.0;
/// Weight of the sum of squares.
const L2: f32 = 1e-5;

/// The state of Adam.
#[derive(Debug)]
pub(super) struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    /// Remaining weight of the initial values, which are zeros.
    left: [f64; 2],
}

impl Adam {
    pub(super) fn new(parameters: usize) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], left: [1.0; 2] }
    }

    /// Performs a step against `gradient`.
    pub(super) fn step(&mut self, rate: f32, gradient: &mut [f32], parameters: &mut [f32]) {
        for (slope, parameter) in gradient.iter_mut().zip(parameters.iter()) {
            *slope += L2 * parameter;
        }
        let length = gradient.iter().map(|slope| f64::from(*slope) * f64::from(*slope)).sum::<f64>().sqrt();
        let scale = (LONGEST / length.max(LONGEST)) as f32;
        for (left, decay) in self.left.iter_mut().zip(DECAY) {
            *left *= f64::from(decay);
        }
        let [mean_full, square_full] = self.left.map(|left| (1.0 - left) as f32);
        let states = self.mean.iter_mut().zip(&mut self.square);
        for ((parameter, slope), (mean, square)) in parameters.iter_mut().zip(gradient.iter()).zip(states) {
            let slope = slope * scale;
            *mean = DECAY[0] * *mean + (1.0 - DECAY[0]) * slope;
            *square = DECAY[1] * *square + (1.0 - DECAY[1]) * slope * slope;
            *parameter -= rate * (*mean / mean_full) / ((*square / square_full).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_lowest_point() {
        let mut at = vec![3.0_f32, -2.0];
        let mut adam = Adam::new(2);
        for _ in 0..2000 {
            let mut gradient = vec![2.0 * (at[0] - 1.0), 20.0 * (at[1] - 0.5)];
            adam.step(0.01, &mut gradient, &mut at);
        }
        assert!((at[0] - 1.0).abs() < 1e-3 && (at[1] - 0.5).abs() < 1e-3, "{at:?}");
    }

    #[test]
    fn the_first_step_is_as_long_as_the_rate() {
        let mut at = vec![0.0_f32];
        Adam::new(1).step(0.1, &mut [1e6], &mut at);
        assert!((at[0] + 0.1).abs() < 1e-4, "{at:?}");
    }
}
