use super::*;

fn target() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dunce::canonicalize(dir.path()).unwrap().join("projects.json");
    (dir, file)
}

#[test]
fn one_holder_at_a_time() {
    let (_dir, file) = target();
    let folder = file.with_file_name("projects.json.lock");
    let lock = DirLock::acquire(&file, Duration::ZERO).unwrap();
    assert!(folder.is_dir());
    assert!(matches!(
        DirLock::acquire(&file, Duration::from_millis(20)),
        Err(Error::Locked { .. })
    ));
    lock.renew().unwrap();
    drop(lock);
    assert!(!folder.exists());
    DirLock::acquire(&file, Duration::ZERO).unwrap();
}

#[test]
fn waits_for_the_holder() {
    let (_dir, file) = target();
    let lock = DirLock::acquire(&file, Duration::ZERO).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| DirLock::acquire(&file, Duration::from_secs(20)).map(|_| ()));
        // Gives the other thread time to wait. The test holds even if that thread has not started.
        std::thread::sleep(Duration::from_millis(20));
        drop(lock);
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_release_is_noticed_at_once() {
    let (_dir, file) = target();
    let noticed = || {
        let lock = DirLock::acquire(&file, Duration::ZERO).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                DirLock::acquire(&file, Duration::from_secs(20)).unwrap();
                Instant::now()
            });
            // The fifth attempt is behind it, the sixth is 95 ms away.
            std::thread::sleep(Duration::from_millis(160));
            let released = Instant::now();
            drop(lock);
            waiting.join().unwrap().duration_since(released)
        })
    };
    let soonest = std::iter::repeat_with(noticed).take(3).min().unwrap();
    assert!(soonest < Duration::from_millis(50), "{soonest:?}");
}

#[test]
fn a_dead_holder_is_replaced_and_cannot_release_the_new_one() {
    let (_dir, file) = target();
    let dead = DirLock::acquire(&file, Duration::ZERO).unwrap();
    let age = |by: Duration| {
        let times = fs::FileTimes::new().set_modified(SystemTime::now() - by);
        fs::File::open(&dead.folder).unwrap().set_times(times).unwrap();
    };
    age(STALE_AFTER / 2);
    assert!(matches!(DirLock::acquire(&file, Duration::ZERO), Err(Error::Locked { .. })));
    age(STALE_AFTER + Duration::from_secs(1));
    let living = DirLock::acquire(&file, Duration::ZERO).unwrap();
    if living.identity != dead.identity {
        assert!(matches!(dead.renew(), Err(Error::Locked { .. })));
        drop(dead);
        assert!(living.folder.is_dir());
    }
}

#[test]
fn many_threads_never_hold_it_together() {
    let (_dir, file) = target();
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let _lock = DirLock::acquire(&file, Duration::from_secs(30)).unwrap();
                assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                // Long enough for another thread to enter, if it can.
                std::thread::sleep(Duration::from_millis(2));
                inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
    });
}
