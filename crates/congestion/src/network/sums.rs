//! Common arithmetic of layers: weighted sums, and the logistic function.

/// Adds `input . kernel` to `output`, row by row. So the compiler works on several outputs at a time, and the order of
/// each sum is fixed. Four rows at a time keep the sums in registers.
pub(super) fn accumulate(input: &[f32], kernel: &[f32], output: &mut [f32]) {
    accumulate_columns(input, kernel, [output.len(), 0], output);
}

/// Adds `input . kernel` to `output` for some columns of a kernel whose rows are `width` wide. There are as many
/// columns as `output` has places, from column `first` on.
#[inline]
pub(super) fn accumulate_columns(
    input: &[f32],
    kernel: &[f32],
    [width, first]: [usize; 2],
    output: &mut [f32],
) {
    let columns = output.len();
    let row = |number: usize| &kernel[number * width + first..][..columns];
    let (fours, rest) = input.as_chunks::<4>();
    for (number, [a, b, c, d]) in fours.iter().enumerate() {
        let [one, two, three, four] = [0, 1, 2, 3].map(|more| row(4 * number + more));
        let pairs = one.iter().zip(two).zip(three.iter().zip(four));
        for (sum, ((e, f), (g, h))) in output.iter_mut().zip(pairs) {
            *sum = *sum + a * e + b * f + c * g + d * h;
        }
    }
    for (value, number) in rest.iter().zip(4 * fours.len()..) {
        for (sum, weight) in output.iter_mut().zip(row(number)) {
            *sum += value * weight;
        }
    }
}

pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_columns_of_a_kernel_sum_up_as_a_kernel_of_them_alone() {
        let number = |index: usize| libm::sinf(index as f32 * 1.7);
        let (rows, width) = (11, 9);
        let input: Vec<f32> = (0..rows).map(number).collect();
        let kernel: Vec<f32> = (0..rows * width).map(number).collect();
        for (first, columns) in [(0, 9), (0, 6), (6, 3), (8, 1)] {
            let alone: Vec<f32> =
                kernel.chunks_exact(width).flat_map(|row| &row[first..][..columns]).copied().collect();
            let (mut found, mut expected) = (vec![0.5; columns], vec![0.5; columns]);
            accumulate_columns(&input, &kernel, [width, first], &mut found);
            accumulate(&input, &alone, &mut expected);
            assert_eq!(found, expected);
        }
        let mut all = [0.5; 1];
        accumulate(&[2.0; 5], &[1.0, 2.0, 3.0, 4.0, 5.0], &mut all);
        assert_eq!(all, [30.5]);
    }
}
