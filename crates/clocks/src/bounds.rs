//! Fit, with the interval of the clock offset that packets and references allow.

use crate::error::ReferenceFault;
use crate::jumps::shifts;
use crate::levels::Level;
use crate::series::{Jump, SIGN, Series};
use crate::{Fit, PathChange, Piece, Reference, ReferenceVerdict, Step, minima};

/// Standard errors that the residual allows for.
const ERRORS: f64 = 3.0;
/// Deviation of a clock from a straight line within 1 s, ns. It grows with time to the power of 1.5.
///
/// Assumes that the rate is a random walk of 0.05 ppm per square root of a second. Its integral then differs from the
/// best line by about a quarter of 50 ns.
const WANDER_NS: f64 = 12.0;
/// Residual in the best case, ns.
const LEAST_NS: f64 = 2e3;

const METHOD: &str = "window minima; one skew for both directions over stretches with level floors (after Moon, Skelly, \
    Towsley, INFOCOM 1999, and Zhang, Liu, Xia, INFOCOM 2002); steps where the floor of the round trip stayed; the offset \
    between the bounds that no packet's delay is negative";

pub(crate) fn fit(series: &Series, level: &Level, jumps: &[Jump], references: &[Reference]) -> Fit {
    let rest = |d: usize| {
        let rest = series.dots[d].iter().map(|dot| dot.y - SIGN[d] * level.skew * dot.t);
        rest.fold(f64::INFINITY, f64::min)
    };
    let mut jumps = jumps.to_vec();
    jumps.sort_by(|a, b| middle_time(a).total_cmp(&middle_time(b)));
    // Clock offset at the origin, relative to the forward base: the forward packets limit it from above, the backward
    // packets from below.
    let (high, low) = (rest(0), -rest(1) - series.trip());
    let residual = residual(level, &jumps, series.span) + (low - high).max(0.0) / 2.0;
    // The local clock measures delays; the clock offset grows during a delay.
    let margin = 2.0 * residual + level.skew.abs() * (high - low).abs();
    let (low, high) = (low.min(high) - margin, high.max(low) + margin);
    let middle = f64::midpoint(low, high);
    let at = |t: f64| series.origin_ns.saturating_add(t.round() as i64);
    let mut fit = Fit {
        pieces: pieces(series, level.skew, &jumps, middle),
        low_ns: (low - middle).floor() as i64,
        high_ns: (high - middle).ceil() as i64,
        residual_ns: residual.ceil() as i64,
        steps: jumps
            .iter()
            .map(|jump| Step {
                at_ns: at(middle_time(jump)),
                by_ns: jump.by.round() as i64,
                uncertain_ns: (jump.window.1 - jump.window.0).ceil() as i64,
            })
            .collect(),
        changes: shifts(level)
            .iter()
            .map(|shift| PathChange {
                at_ns: at(shift.at),
                forward_by_ns: shift.by[0].round() as i64,
                backward_by_ns: shift.by[1].round() as i64,
            })
            .collect(),
        references: Vec::new(),
        method: METHOD.to_owned(),
    };
    narrow(&mut fit, references, level.error);
    fit
}

/// Returns the reported time of a step: the middle of its window, ns.
fn middle_time(jump: &Jump) -> f64 {
    f64::midpoint(jump.window.0, jump.window.1)
}

fn residual(level: &Level, jumps: &[Jump], span: f64) -> f64 {
    let skew = (ERRORS * level.error + level.rival + level.bend) * span / 2.0;
    let steps = if jumps.is_empty() { 0.0 } else { level.scatter };
    let seconds = span / 1e9;
    LEAST_NS + level.scatter + steps + skew + WANDER_NS * seconds * seconds.sqrt()
}

fn pieces(series: &Series, skew: f64, jumps: &[Jump], middle: f64) -> Vec<Piece> {
    let mut starts = vec![(0.0, 0.0)];
    starts.extend(jumps.iter().map(|jump| (middle_time(jump), jump.by)));
    let mut stepped = 0.0;
    let mut pieces: Vec<Piece> = Vec::new();
    for (t, by) in starts {
        stepped += by;
        let from_ns = series.origin_ns.saturating_add(t.round() as i64);
        if let Some(last) = pieces.last_mut() {
            last.until_ns = from_ns;
        }
        let relative = (middle + stepped + skew * t).round() as i64;
        let offset_ns = series.base_ns[0].saturating_add(relative);
        let until_ns = series.origin_ns.saturating_add(series.span.round() as i64 + 1);
        pieces.push(Piece { from_ns, until_ns, offset_ns, skew });
    }
    pieces
}

/// Narrows the interval by each reference that agrees with it, the most exact reference first.
fn narrow(fit: &mut Fit, references: &[Reference], error: f64) {
    let mut order: Vec<usize> = (0..references.len()).collect();
    order.sort_by_key(|index| references[*index].error_ns);
    let mut verdicts: Vec<Option<ReferenceVerdict>> = vec![None; references.len()];
    for index in order {
        let reference = &references[index];
        let refused = apply(fit, reference, error).err().map(|fault| fault.to_string());
        verdicts[index] = Some(ReferenceVerdict { source: reference.source.clone(), refused });
    }
    fit.references = verdicts.into_iter().flatten().collect();
    let middle = i64::midpoint(fit.low_ns, fit.high_ns);
    for piece in &mut fit.pieces {
        piece.offset_ns = piece.offset_ns.saturating_add(middle);
    }
    fit.low_ns -= middle;
    fit.high_ns -= middle;
}

fn apply(fit: &mut Fit, reference: &Reference, error: f64) -> Result<(), ReferenceFault> {
    let Reference { at_ns, offset_ns, error_ns, .. } = *reference;
    if error_ns < 0 || [at_ns, offset_ns, error_ns].iter().any(|ns| !minima::within(*ns)) {
        return Err(ReferenceFault::Impossible);
    }
    let (first, last) = (fit.pieces[0].from_ns, fit.pieces[fit.pieces.len() - 1].until_ns);
    let outside = (first - at_ns).max(at_ns - last).max(0);
    if outside > last - first {
        return Err(ReferenceFault::Outside(outside as f64 / 1e9));
    }
    let wide = error_ns + fit.residual_ns + (ERRORS * error * outside as f64).ceil() as i64;
    let off = offset_ns.saturating_sub(fit.theta_ns(at_ns));
    let (low, high) = (off.saturating_sub(wide), off.saturating_add(wide));
    if low > fit.high_ns || high < fit.low_ns {
        let by = (low - fit.high_ns).max(fit.low_ns.saturating_sub(high));
        return Err(ReferenceFault::Contradicts(by as f64 / 1e6));
    }
    fit.low_ns = fit.low_ns.max(low);
    fit.high_ns = fit.high_ns.min(high);
    Ok(())
}
