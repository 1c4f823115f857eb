//! Mistakes of the command line, files that cannot be read, and texts made to do harm.

use std::path::Path;

use carom_scene::{Overrides, from_str, load};

use super::{LAGRANGIAN, LINEAR, errors};

#[test]
fn mistakes_of_the_command_line() {
    let set = |name: &str, value: &str| Overrides { set: vec![(name.into(), value.into())], ..Default::default() };
    let cases = [
        (set("M", "2"), "--set", 1, "unknown parameter `M`", "`m`"),
        (set("mass", "2"), "--set", 1, "unknown parameter `mass`", "m, g"),
        (set("m", "2*"), "--set", 5, "expected a number", ""),
        (set("m", "2*q"), "--set", 5, "unknown name `q`", ""),
        (set("m", "m + 1"), "--set", 3, "defined by itself", ""),
        (set("m", "nan"), "--set", 3, "unknown name `nan`", ""),
        (Overrides { scheme: Some("moro".into()), ..Default::default() }, "--scheme", 1, "unknown scheme", ""),
        (Overrides { scheme: Some("{ name = ".into()), ..Default::default() }, "--scheme", 9, "", "write a name"),
        (
            Overrides { scheme: Some("{ name = \"moreau-jean\", theta = 2 }".into()), ..Default::default() },
            "--scheme",
            33,
            "not in [0, 1]",
            "",
        ),
        (Overrides { solver: Some("nsg".into()), ..Default::default() }, "--solver", 1, "unknown solver", "nsgs"),
        (Overrides { step: Some(0.0.into()), ..Default::default() }, "--step", 1, "not positive", ""),
        (Overrides { steps: Some(0), ..Default::default() }, "--steps", 1, "whole number", ""),
        (Overrides { end: Some(f64::NAN), ..Default::default() }, "--end", 1, "finite", ""),
        (Overrides { step: Some(0.1.into()), steps: Some(3), ..Default::default() }, "--steps", 1, "not both", ""),
    ];
    for (overrides, file, column, message, hint) in cases {
        let found = from_str("test.toml", LAGRANGIAN, &overrides).unwrap_err();
        let error = &found[0];
        assert_eq!(found.len(), 1, "{overrides:?}: {error}");
        assert_eq!((error.file(), error.line, error.column), (file, 1, column), "{error}");
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{error}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let directory = std::env::temp_dir().join(format!("carom-scene-mistakes-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let large = write("large.toml", b"");
    std::fs::OpenOptions::new().write(true).open(&large).unwrap().set_len(100 << 20).unwrap();
    let cases: [(&Path, &str, &str); 7] = [
        (&directory.join("none.toml"), "does not exist", ""),
        (&directory, "is a directory", ""),
        (&large, "104857600 bytes", "chain"),
        (&write("empty.toml", b" \n"), "the file is empty", "carom new"),
        (&write("binary.toml", b"version = 1\nname = \"\xff\""), "byte 20 is 0xff", ""),
        (&write("wide.toml", b"\xff\xfev\0e\0"), "byte 0 is 0xff", "UTF-16"),
        (Path::new("/dev/zero"), "more than", ""),
    ];
    for (path, message, hint) in cases {
        let found = load(path, &Overrides::default()).unwrap_err();
        assert!(found[0].message.contains(message), "{}", found[0]);
        assert!(found[0].hint.as_deref().unwrap_or_default().contains(hint), "{}", found[0]);
    }
    let found = load(&directory.join("binary.toml"), &Overrides::default()).unwrap_err();
    assert_eq!((found[0].line, found[0].column), (2, 9));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn hostile_texts_end_quickly() {
    let start = std::time::Instant::now();
    let deep = 100_000;
    for text in [
        format!("x = {}", "[".repeat(deep)),
        format!("x = {}", "{a=".repeat(deep)),
        format!("{} = 1", vec!["a"; deep].join(".")),
        LAGRANGIAN.replace("\"m*g*y\"", &format!("\"{}\"", "(".repeat(60_000))),
        LAGRANGIAN.replace("\"m*g*y\"", &format!("\"{}y\"", "-".repeat(60_000))),
        LAGRANGIAN.replace("\"m*g*y\"", &format!("\"{}\"", "y+".repeat(60_000))),
        LAGRANGIAN.replace("[\"x\", \"y\"]\nkin", &format!("[\"x\", \"y\"{}]\nkin", ", \"x\"".repeat(deep))),
        LAGRANGIAN.replace(
            "[parameters]",
            &format!("[parameters]\n{}", (0..deep).map(|i| format!("p{i} = \"p{}\"\n", i + 1)).collect::<String>()),
        ),
        LAGRANGIAN.replace(
            "[initial]",
            &format!("[initial]\n{}", (0..deep).map(|i| format!("z{i} = 1\n")).collect::<String>()),
        ),
        LINEAR.replace("[[1, 0], [0, 1]]", &format!("[[1{}]]", ",1".repeat(deep))),
    ] {
        let found = errors(&text);
        assert!(!found.is_empty() && found.len() <= 101, "{}", found.len());
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
