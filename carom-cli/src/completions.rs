//! `carom completions`: what a shell needs to complete the words of the command.

use crate::command;
use crate::console::print_line;
use crate::failure::Failure;
use clap_complete::Shell;

pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "carom", &mut script);
    print_line(String::from_utf8_lossy(&script).trim_end())
}
