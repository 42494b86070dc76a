//! Columnar files, written by the same crates: formats, types, sizes, and corrupt files.

#[cfg(feature = "parquet")]
mod damaged;
#[cfg(feature = "parquet")]
mod round_trip;

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_the_error_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, start) in
        [("a.parquet", &b"PAR1"[..]), ("a.arrow", b"\xff\xff\xff\xff"), ("data", b"ARROW1\0\0")]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, start).unwrap();
        let error = crate::Dataset::from_file(&path).unwrap_err().to_string();
        assert!(error.contains("Parquet and Arrow files need the feature `parquet`"), "{error}");
    }
}
