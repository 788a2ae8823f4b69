use super::*;

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default()
}

#[test]
fn an_output_that_is_never_committed_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dps");
    fs::write(&path, b"old").unwrap();
    drop(OutputFile::create(&path, Readers::Anyone).unwrap());
    assert_eq!(names(folder.path()), ["a.dps"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_folder_is_no_output_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = OutputFile::create(folder.path(), Readers::Anyone).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
}

#[test]
fn a_missing_folder_shows_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let error = OutputFile::create(&folder.path().join("no/a.dps"), Readers::Anyone).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[cfg(unix)]
#[test]
fn owner_only_files_have_mode_0600_even_when_replacing_an_open_one() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.raw.dps");
    fs::write(&path, b"old").unwrap();
    OutputFile::create(&path, Readers::OwnerOnly).unwrap().commit(b"new").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn a_link_keeps_pointing_to_the_replaced_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("a.dps"), folder.path().join("link.dps"));
    fs::write(&file, b"old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    OutputFile::create(&link, Readers::Anyone).unwrap().commit(b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
}

#[test]
fn a_name_that_ends_like_a_folder_is_no_output_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["no/", "no/.", "..", "no/..", "no//"] {
        let path = folder.path().join(name);
        for create in [OutputFile::create, OutputFile::create_new] {
            let error = create(&path, Readers::Anyone).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter, "{name}");
        }
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_name_of_the_greatest_length_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{}.dps", "x".repeat(251)));
    OutputFile::create(&path, Readers::Anyone).unwrap().commit(b"x").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"x");
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.dps");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let error = OutputFile::create(&link, Readers::Anyone).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(names(folder.path()), ["link.dps"]);
}

#[cfg(unix)]
#[test]
fn the_next_version_of_a_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    for mode in [0o600, 0o640, 0o644, 0o664, 0o604] {
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let old = File::open(&path).unwrap();
        OutputFile::create_next(&path, &old).unwrap().commit(b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{mode:o}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn secret_output_does_not_go_to_a_terminal() {
    // Opening it makes a new terminal that nobody looks at.
    let terminal = Path::new("/dev/ptmx");
    let error = OutputFile::create(terminal, Readers::OwnerOnly).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(OutputFile::create(terminal, Readers::Anyone).is_ok());
    assert!(OutputFile::create(Path::new("/dev/null"), Readers::OwnerOnly).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error_and_is_not_replaced() {
    let error = OutputFile::create(Path::new("/dev/full"), Readers::Anyone).unwrap().commit(b"x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(!fs::metadata("/dev/full").unwrap().is_file());
}
