//! A program in a pseudo-terminal, and the screen that a user would see.

mod emulator;
mod key;

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use emulator::Emulator;
pub use key::Key;
pub use vt100::Screen;

use crate::exit::wait_for_exit;
use crate::picture::Picture;

type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

/// A terminal in which a program runs, created by
/// [`Pollux::in_terminal`](crate::Pollux::in_terminal).
///
/// A thread reads the program's output, updates the screen, and answers the queries that programs
/// send to a terminal. Dropping the terminal kills the program.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Writer,
    shared: Arc<Shared>,
}

struct Shared {
    display: Mutex<Display>,
    changed: Condvar,
}

struct Display {
    emulator: Emulator,
    closed: bool,
}

impl Terminal {
    pub(crate) fn start(command: CommandBuilder, rows: u16, columns: u16) -> Self {
        let pair = native_pty_system().openpty(size(rows, columns)).expect("a pseudo-terminal");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        // While this process holds the slave, the end of the program would not end the stream.
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().unwrap();
        let writer: Writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let display = Display { emulator: Emulator::new(rows, columns), closed: false };
        let shared = Arc::new(Shared { display: Mutex::new(display), changed: Condvar::new() });
        let (shown, answers) = (Arc::clone(&shared), Arc::clone(&writer));
        std::thread::spawn(move || shown.follow(reader, &answers));
        Self { child, master: pair.master, writer, shared }
    }

    /// Types exactly the bytes of this text.
    pub fn send(&self, text: &str) {
        write(&self.writer, text.as_bytes()).expect("the program's terminal is open");
    }

    /// Presses a key. Arrow keys use the cursor key mode that the program has set.
    pub fn send_key(&self, key: Key) {
        let application = self.display().emulator.screen().application_cursor();
        self.send(&key.sequence(application));
    }

    /// Pastes a text, bracketed if the program has requested that.
    pub fn paste(&self, text: &str) {
        if self.display().emulator.screen().bracketed_paste() {
            self.send(&format!("\x1b[200~{text}\x1b[201~"));
        } else {
            self.send(text);
        }
    }

    /// Returns the text on the screen, one line per row, without blanks at the ends of rows and
    /// without empty rows at the bottom.
    pub fn screen(&self) -> String {
        text(self.display().emulator.screen())
    }

    /// Returns the picture of the screen.
    pub fn picture(&self) -> Picture {
        Picture::of(self.display().emulator.screen())
    }

    /// Returns all rows of the terminal without blanks at their ends: those that have left the top
    /// of the screen, and those on the screen.
    pub fn all_rows(&self) -> Vec<String> {
        self.display().emulator.all_rows()
    }

    /// Returns all bytes that the program has printed.
    pub fn transcript(&self) -> Vec<u8> {
        self.display().emulator.transcript().to_vec()
    }

    /// Waits until the condition is true for the screen; fails the test, with the screen, after the
    /// timeout or if the program ends first.
    pub fn wait_for(&self, condition: impl Fn(&Screen) -> bool, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let mut display = self.display();
        while !condition(display.emulator.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !display.closed && !left.is_zero(),
                "the screen did not come within {timeout:?} (program ended: {}):\n{}",
                display.closed,
                text(display.emulator.screen())
            );
            let waited = self.shared.changed.wait_timeout(display, left);
            display = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the screen contains this text.
    pub fn wait_for_text(&self, wanted: &str, timeout: Duration) {
        self.wait_for(|screen| text(screen).contains(wanted), timeout);
    }

    /// Changes the size and informs the program.
    pub fn resize(&self, rows: u16, columns: u16) {
        self.display().emulator.resize(rows, columns);
        self.master.resize(size(rows, columns)).expect("the terminal takes a new size");
    }

    /// Waits for the end of the program; fails the test, with the screen, after the timeout.
    pub fn wait_exit(&mut self, timeout: Duration) -> ExitStatus {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                self.read_the_rest();
                return status;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "the program did not end within {timeout:?}:\n{}",
                self.screen()
            );
            wait_for_exit(self.child.process_id().unwrap(), left);
        }
    }

    /// Waits until the reader thread has read all output of a program that has ended. A grandchild
    /// can hold the terminal open, so the wait is limited.
    fn read_the_rest(&self) {
        let limit = Duration::from_secs(5);
        let closed = |display: &mut Display| !display.closed;
        drop(self.shared.changed.wait_timeout_while(self.display(), limit, closed));
    }

    fn display(&self) -> MutexGuard<'_, Display> {
        self.shared.lock()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Display> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Feeds the emulator until the terminal closes, which Linux reports as an error.
    fn follow(&self, mut reader: Box<dyn Read + Send>, answers: &Writer) {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            let answer = self.lock().emulator.process(&buffer[..count]);
            self.changed.notify_all();
            if !answer.is_empty() {
                write(answers, &answer).ok();
            }
        }
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

fn write(writer: &Writer, bytes: &[u8]) -> std::io::Result<()> {
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    writer.write_all(bytes)?;
    writer.flush()
}

fn text(screen: &Screen) -> String {
    screen
        .contents()
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}

fn size(rows: u16, columns: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}
