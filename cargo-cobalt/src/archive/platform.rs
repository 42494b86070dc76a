//! Whether binaries for a target triple run on this machine.

use std::env::consts::{ARCH, OS};

use cfg_expr::targets::get_builtin_target_by_triple;

/// This machine, if binaries for the triple do not run on it. The C library and the vendor are not compared, and triples that are not
/// known are accepted.
pub fn mismatch(triple: &str) -> Option<String> {
    differs(triple, ARCH, OS).then(|| format!("{ARCH}-{OS}"))
}

fn differs(triple: &str, arch: &str, os: &str) -> bool {
    let Some(target) = get_builtin_target_by_triple(triple) else { return false };
    target.arch.as_str() != arch || target.os.as_ref().is_some_and(|target| target.as_str() != os)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_and_the_system_decide() {
        for (triple, differs_here) in [
            ("x86_64-unknown-linux-gnu", false),
            ("x86_64-unknown-linux-musl", false),
            ("aarch64-unknown-linux-gnu", true),
            ("i686-unknown-linux-gnu", true),
            ("x86_64-apple-darwin", true),
            ("x86_64-pc-windows-msvc", true),
            ("my-own-triple", false),
        ] {
            assert_eq!(differs(triple, "x86_64", "linux"), differs_here, "{triple}");
        }
        assert!(!differs("aarch64-apple-darwin", "aarch64", "macos"));
    }
}
