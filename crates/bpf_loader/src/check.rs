//! What the machine needs for our controllers, in the order in which one would fix it.

use crate::error::Error;
use crate::{controllers, registration};
use libbpf_rs::btf::{Btf, types};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Number of each capability in the mask of `/proc/self/status`, and its name. The last is for sharing links.
const CAPABILITIES: [(u32, &str); 4] =
    [(39, "CAP_BPF"), (38, "CAP_PERFMON"), (12, "CAP_NET_ADMIN"), (21, "CAP_SYS_ADMIN")];
/// First with a `cong_control` of four arguments.
const OLDEST_KERNEL: (u32, u32) = (6, 10);

/// One requirement.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) passed: bool,
    /// What was found.
    pub(crate) found: String,
    /// What to do if it did not pass.
    pub(crate) fix: &'static str,
}

/// Every requirement; the last one, the kernel's verdict, only if the others are met.
pub(crate) fn all() -> Vec<Check> {
    let mut checks = vec![clang(), rights(), kernel_version(), btf(), struct_ops()];
    if checks.iter().all(|check| check.passed) {
        checks.push(verifier());
    }
    checks
}

/// The first requirement that is not met, as an error.
pub(crate) fn require() -> Result<(), Error> {
    match [clang(), rights(), kernel_version(), btf(), struct_ops()].iter().find(|check| !check.passed) {
        None => Ok(()),
        Some(check) => Err(Error::Missing { name: check.name, found: check.found.clone(), fix: check.fix }),
    }
}

/// One line, or one JSON object, per requirement.
pub(crate) fn report(checks: &[Check], json: bool) -> String {
    if json {
        let rows: Vec<_> = checks
            .iter()
            .map(|check| {
                let fix = (!check.passed).then_some(check.fix);
                json!({"name": check.name, "passed": check.passed, "found": check.found, "fix": fix})
            })
            .collect();
        return format!("{:#}\n", json!(rows));
    }
    checks.iter().fold(String::new(), |mut text, check| {
        let (mark, fix) =
            if check.passed { ("ok", String::new()) } else { ("NO", format!("; {}", check.fix)) };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{mark}  {}: {}{fix}", check.name, check.found);
        text
    })
}

fn clang() -> Check {
    let passed = controllers::ALL.iter().all(|controller| controller.object.is_some());
    Check {
        name: "controllers",
        passed,
        found: if passed { "compiled".into() } else { "this program was built without clang".into() },
        fix: "install clang (Debian: apt install clang) and build again",
    }
}

fn rights() -> Check {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let missing = missing_capabilities(&status);
    let found = if !missing.is_empty() {
        format!("{} missing", missing.join(", "))
    } else if !is_initial_user_namespace(&map) {
        "root only of a user namespace".into()
    } else {
        "sufficient".into()
    };
    Check { name: "rights", passed: found == "sufficient", found, fix: "run as root of the machine" }
}

fn missing_capabilities(status: &str) -> Vec<&'static str> {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    CAPABILITIES.iter().filter(|(bit, _)| mask & (1 << bit) == 0).map(|(_, name)| *name).collect()
}

/// The first user namespace maps every user to itself.
fn is_initial_user_namespace(uid_map: &str) -> bool {
    uid_map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn kernel_version() -> Check {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    Check {
        name: "kernel",
        passed: version(release) >= OLDEST_KERNEL,
        found: format!("Linux {release}"),
        fix: "Linux 6.10 or newer is needed",
    }
}

fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|word| word.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn btf() -> Check {
    let passed = Path::new(BTF).exists();
    Check {
        name: "type information",
        passed,
        found: if passed { BTF.into() } else { format!("{BTF} does not exist") },
        fix: "use a kernel with CONFIG_DEBUG_INFO_BTF=y",
    }
}

fn struct_ops() -> Check {
    let passed = Btf::from_vmlinux().is_ok_and(|btf| {
        btf.type_by_name::<types::Struct<'_>>("bpf_struct_ops_tcp_congestion_ops").is_some()
    });
    let found = if passed { "possible" } else { "this kernel takes none" };
    Check {
        name: "TCP controllers in BPF",
        passed,
        found: found.into(),
        fix: "use a kernel with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_JIT=y",
    }
}

fn verifier() -> Check {
    let refused = controllers::ALL.iter().find_map(|controller| registration::verify(controller).err());
    Check {
        name: "verifier",
        passed: refused.is_none(),
        found: refused.map_or_else(|| "accepts every controller".into(), |error| error.to_string()),
        fix: "please report this with the output of 'dumbbell-kernel check --verbose'",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named() {
        assert_eq!(missing_capabilities("Name:\tx\nCapEff:\t000001ffffffffff\n"), Vec::<&str>::new());
        // All but CAP_BPF (39) and CAP_NET_ADMIN (12).
        assert_eq!(missing_capabilities("CapEff:\t0000017fffffefff\n"), ["CAP_BPF", "CAP_NET_ADMIN"]);
        assert_eq!(missing_capabilities("").len(), CAPABILITIES.len());
    }

    #[test]
    fn a_user_namespace_is_recognised() {
        assert!(is_initial_user_namespace("         0          0 4294967295\n"));
        assert!(!is_initial_user_namespace("         0       1000          1\n"));
    }

    #[test]
    fn releases_are_compared_by_number() {
        assert!(version("6.18.44-custom") >= OLDEST_KERNEL);
        assert!(version("6.9.12") < OLDEST_KERNEL);
        assert!(version("10.0") >= OLDEST_KERNEL);
        assert!(version("") < OLDEST_KERNEL);
    }
}
