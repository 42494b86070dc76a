//! Finds the dashboard's page: in a published package, it is in `dist`. A clone has a symlink there, which Windows may check out as a
//! text file; the page is then read from where it points.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(page_beside_package)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=dist");
    if !Path::new("dist").is_dir() {
        println!("cargo::rustc-cfg=page_beside_package");
    }
}
