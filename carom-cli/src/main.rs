//! The `carom` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    carom_cli::main(std::env::args_os()).into()
}
