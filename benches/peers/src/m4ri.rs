//! M4RI, timed by a program of its own (`m4ri/time.c`), since its licence is the GPL.

use std::cell::RefCell;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The running program, with matrices of one size.
pub(crate) struct M4ri {
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

impl M4ri {
    /// Starts the program.
    pub(crate) fn start(program: &Path, size: usize) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(program);
        let mut child = command.arg(size.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        Ok(Self { child, pipes: RefCell::new((input, BufReader::new(output))) })
    }

    /// Nanoseconds that the program takes for a task, repeated; not a number when it gives no answer.
    pub(crate) fn time(&self, task: &str, repeats: u32) -> f64 {
        self.ask(task, repeats).ok().filter(|time| *time >= 0.0).unwrap_or(f64::NAN)
    }

    fn ask(&self, task: &str, repeats: u32) -> Result<f64, Box<dyn Error>> {
        let (input, output) = &mut *self.pipes.borrow_mut();
        writeln!(input, "{task} {repeats}")?;
        input.flush()?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for M4ri {
    fn drop(&mut self) {
        // Its input may be closed already, and then it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
