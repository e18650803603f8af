//! Sums and functions of training, written such that the compiler vectorizes them.
//!
//! All functions are accurate to about 1e-6 and give identical results on every machine.

/// Columns that are processed together. Widths are multiples of it.
pub(super) const BLOCK: usize = 32;

/// Computes `output += input . kernel`, with the rows of `kernel` in order.
pub(super) fn accumulate(input: &[f32], kernel: &[f32], output: &mut [f32]) {
    let columns = output.len();
    for (block, output) in output.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let mut sums = *output;
        for (value, row) in input.iter().zip(kernel.chunks_exact(columns)) {
            if *value != 0.0 {
                add(&mut sums, *value, &row.as_chunks::<BLOCK>().0[block]);
            }
        }
        *output = sums;
    }
}

/// Computes `gradient[row] += inputs[t][row] * outputs[t]` over all times.
pub(super) fn accumulate_outer(
    inputs: &[f32],
    rows: usize,
    outputs: &[f32],
    columns: usize,
    gradient: &mut [f32],
) {
    for (row, gradient) in gradient.chunks_exact_mut(columns).enumerate() {
        for (block, gradient) in gradient.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            let mut sums = *gradient;
            for (input, output) in inputs.chunks_exact(rows).zip(outputs.chunks_exact(columns)) {
                if input[row] != 0.0 {
                    add(&mut sums, input[row], &output.as_chunks::<BLOCK>().0[block]);
                }
            }
            *gradient = sums;
        }
    }
}

#[inline]
fn add(sums: &mut [f32; BLOCK], value: f32, row: &[f32; BLOCK]) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum += value * weight;
    }
}

/// Returns the transpose of a matrix with `columns` columns.
pub(super) fn transpose(matrix: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| matrix.iter().skip(column).step_by(columns).copied()).collect()
}

/// Returns `exp(x)`: a power of two times a polynomial of the remainder.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    /// Constant that rounds: after its addition, the last bits of a small number contain the nearest whole number.
    const ROUND: f32 = 12_582_912.0;
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-80.0, 80.0);
    let shifted = x * core::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = x - whole * LN_2[0] - whole * LN_2[1];
    let mut sum = 1.0 / 720.0;
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * rest + factor;
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_sub(ROUND.to_bits() - 127) << 23);
    sum * power
}

#[inline]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline]
pub(super) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_close_to_exact_ones() {
        for number in -4000..=4000 {
            let x = number as f32 / 100.0;
            let exact = libm::exp(f64::from(x));
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2e-6, "{x}");
            assert!((f64::from(tanh(x)) - libm::tanh(f64::from(x))).abs() < 5e-7, "{x}");
            assert!((f64::from(sigmoid(x)) - 1.0 / (1.0 + 1.0 / exact)).abs() < 5e-7, "{x}");
        }
    }

    #[test]
    fn products_of_matrices() {
        let kernel: Vec<f32> = (0..2 * BLOCK).map(|number| number as f32).collect();
        let mut sums = vec![1.0; BLOCK];
        accumulate(&[2.0, 10.0], &kernel, &mut sums);
        assert_eq!((sums[0], sums[5]), (321.0, 1.0 + 10.0 + 370.0));
        let mut gradient = vec![0.0; 2 * BLOCK];
        accumulate_outer(&[1.0, 2.0, 3.0, 4.0], 2, &kernel, BLOCK, &mut gradient);
        assert_eq!((gradient[1], gradient[BLOCK + 1]), (1.0 + 99.0, 2.0 + 132.0));
        assert_eq!(transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
