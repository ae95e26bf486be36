use wug_dataset::FileSink as _;

use super::*;

fn write(target: &Path, content: &str, force: bool) -> Result<(), LabError> {
    let mut stage = Staging::begin(target)?;
    stage.put("a/b.txt", &mut |out| out.write_all(content.as_bytes())).unwrap();
    stage.finish(force)
}

fn listing(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    collect(path, "", &mut names).unwrap();
    names
}

#[test]
fn files_appear_together_or_not_at_all() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("new");
    {
        let mut stage = Staging::begin(&target).unwrap();
        stage.put("half.txt", &mut |out| out.write_all(b"half")).unwrap();
        // dropped: as if an error had ended the work
    }
    assert!(listing(root.path()).is_empty());
    write(&target, "one", false).unwrap();
    assert_eq!(listing(root.path()), ["new/a/b.txt"]);
}

#[test]
fn what_a_killed_process_left_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".wug-part-x")).unwrap();
    fs::write(root.path().join(".wug-part-x/half.txt"), "half").unwrap();
    write(root.path(), "one", false).unwrap();
    assert_eq!(Directory::open(root.path()).unwrap().names().unwrap(), ["a/b.txt"]);
}

#[test]
fn directories_made_in_vain_are_removed() {
    let root = tempfile::tempdir().unwrap();
    drop(Staging::begin(&root.path().join("x/y/z")).unwrap());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    fs::create_dir_all(root.path().join("t/a/b.txt")).unwrap();
    let error = write(&root.path().join("t"), "one", true).unwrap_err();
    assert!(error.to_string().contains("is a directory"), "{error}");
}

#[test]
fn existing_files_are_kept_unless_forced() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "one", false).unwrap();
    write(root.path(), "one", false).unwrap();
    let error = write(root.path(), "two", false).unwrap_err();
    assert!(matches!(error, LabError::Exists { .. }), "{error}");
    assert_eq!(fs::read_to_string(root.path().join("a/b.txt")).unwrap(), "one");
    write(root.path(), "two", true).unwrap();
    assert_eq!(fs::read_to_string(root.path().join("a/b.txt")).unwrap(), "two");
    assert_eq!(listing(root.path()), ["a/b.txt"]);
}

#[cfg(unix)]
#[test]
fn a_file_is_written_whole_where_its_link_leads_with_ordinary_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("ordinary"), "x").unwrap();
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
    write_whole(&at("new"), b"one").unwrap();
    assert_eq!(mode("new"), mode("ordinary"));
    symlink(at("new"), at("link")).unwrap();
    symlink(at("later"), at("dangling")).unwrap();
    write_whole(&at("link"), b"two").unwrap();
    write_whole(&at("dangling"), b"three").unwrap();
    assert!(at("link").is_symlink() && at("dangling").is_symlink());
    assert_eq!(fs::read(at("new")).unwrap(), b"two");
    assert_eq!(fs::read(at("later")).unwrap(), b"three");
    write_whole(Path::new("/dev/null"), b"nothing").unwrap();
    assert!(!Path::new("/dev/null").is_file());
    assert!(write_whole(root.path(), b"x").is_err());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 5);
}

#[test]
fn of_two_who_write_one_file_at_once_one_wins() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("page");
    let texts = [vec![b'a'; 50_000], vec![b'b'; 70_000]];
    std::thread::scope(|scope| {
        for text in &texts {
            scope.spawn(|| (0..20).for_each(|_| write_whole(&path, text).unwrap()));
        }
    });
    assert!(texts.contains(&fs::read(&path).unwrap()));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn a_file_in_the_way_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(Staging::begin(&file).unwrap_err().to_string().contains("is a file, not a directory"));
    assert!(Staging::begin(&file.join("below")).is_err());
    assert!(Directory::open(&root.path().join("none")).is_err());
}
