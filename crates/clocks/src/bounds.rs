//! The fit with the interval that packets and references leave.

use crate::error::ReferenceFault;
use crate::jumps::shifts;
use crate::levels::Level;
use crate::series::{Jump, SIGN, Series};
use crate::{Fit, Judged, PathChange, Piece, Reference, Step, minima};

/// Share of a standard error that is allowed for.
const ERRORS: f64 = 3.0;
/// By how much a clock leaves a straight line in a second, ns; it grows with time to the 1.5 where the rate is a random walk
/// (of 0.05 ppm per square root of a second: its integral is then off by about a quarter of 50 ns from the best line).
const WANDER_NS: f64 = 12.0;
/// What remains in the best case, ns.
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
    jumps.sort_by(|a, b| middle_of(a).total_cmp(&middle_of(b)));
    // theta at the origin, relative to the forward base: at most what the forward packets allow, at least what the others do
    let (high, low) = (rest(0), -rest(1) - series.trip());
    let residual = residual(level, &jumps, series.span) + (low - high).max(0.0) / 2.0;
    // delays are measured by the local clock, theta grows meanwhile
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
                at_ns: at(middle_of(jump)),
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

/// When a step is said to have happened.
fn middle_of(jump: &Jump) -> f64 {
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
    starts.extend(jumps.iter().map(|jump| (middle_of(jump), jump.by)));
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

/// Takes references in, the most exact first, as long as they agree with what is known already.
fn narrow(fit: &mut Fit, references: &[Reference], error: f64) {
    let mut order: Vec<usize> = (0..references.len()).collect();
    order.sort_by_key(|index| references[*index].error_ns);
    let mut judged: Vec<Option<Judged>> = vec![None; references.len()];
    for index in order {
        let reference = &references[index];
        let refused = taken(fit, reference, error).err().map(|fault| fault.to_string());
        judged[index] = Some(Judged { source: reference.source.clone(), refused });
    }
    fit.references = judged.into_iter().flatten().collect();
    let middle = i64::midpoint(fit.low_ns, fit.high_ns);
    for piece in &mut fit.pieces {
        piece.offset_ns = piece.offset_ns.saturating_add(middle);
    }
    fit.low_ns -= middle;
    fit.high_ns -= middle;
}

fn taken(fit: &mut Fit, reference: &Reference, error: f64) -> Result<(), ReferenceFault> {
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
