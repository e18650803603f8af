//! What layers have in common: weighted sums, and the logistic function.

/// Adds `input . kernel` to `output`: row by row, so that the compiler works on several outputs at a time and the order of
/// each sum stays. Four rows at a time leave the sums in registers.
pub(super) fn accumulate(input: &[f32], kernel: &[f32], output: &mut [f32]) {
    let width = output.len();
    let (fours, rest) = input.as_chunks::<4>();
    let (kernels, remaining) = kernel.split_at(fours.len() * 4 * width);
    for ([a, b, c, d], rows) in fours.iter().zip(kernels.chunks_exact(4 * width)) {
        let (first, second) = rows.split_at(2 * width);
        let (first, second) = (first.split_at(width), second.split_at(width));
        let pairs = first.0.iter().zip(first.1).zip(second.0.iter().zip(second.1));
        for (sum, ((e, f), (g, h))) in output.iter_mut().zip(pairs) {
            *sum = *sum + a * e + b * f + c * g + d * h;
        }
    }
    for (value, row) in rest.iter().zip(remaining.chunks_exact(width)) {
        for (sum, weight) in output.iter_mut().zip(row) {
            *sum += value * weight;
        }
    }
}

pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}
