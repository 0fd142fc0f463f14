//! Compiles flat.c, which has all of machsym.h in it, by the system's C compiler. The environment may name that (CC_TARGET with
//! the target's name, TARGET_CC or CC), its options (CFLAGS) and the archiver (AR).
use std::env;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

/// Where the C sources lie: in a package in c/, in the project above.
fn sources() -> [PathBuf; 2] {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    if here.join("c/machsym.h").exists() {
        [here.join("c"), here.join("c")]
    } else {
        [here.join("../.."), here.join("..")]
    }
}

fn words(name: &str) -> Option<Vec<String>> {
    println!("cargo:rerun-if-env-changed={}", name);
    let found: Vec<String> = env::var(name).ok()?.split_whitespace().map(String::from).collect();
    if found.is_empty() {
        None
    } else {
        Some(found)
    }
}

fn answers(program: &str) -> bool {
    Command::new(program).arg("--version").output().map_or(false, |said| said.status.success())
}

fn compiler(target: &str) -> Vec<String> {
    let own = format!("CC_{}", target.replace('-', "_"));
    if let Some(named) = words(&own).or_else(|| words("TARGET_CC")).or_else(|| words("CC")) {
        return named;
    }
    for name in ["cc", "gcc", "clang"] {
        if answers(name) {
            return vec![name.to_string()];
        }
    }
    fail("a C compiler is needed: install gcc or clang, or name one in CC");
}

fn fail(why: &str) -> ! {
    eprintln!("machsym: {}", why);
    exit(1);
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => (),
        Ok(_) => fail(&format!("it does not compile: {:?}", command)),
        Err(error) => fail(&format!("{:?}: {}", command, error)),
    }
}

fn main() {
    let target = env::var("TARGET").unwrap();
    if target.ends_with("-msvc") {
        fail("it is compiled by gcc or clang: take the target *-windows-gnu");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let [header, flat] = sources();
    for file in [header.join("machsym.h"), flat.join("flat.c"), flat.join("flat.h")] {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    let cc = compiler(&target);
    let object = out.join("flat.o");
    let archive = out.join("libmachsym_flat.a");
    let mut compile = Command::new(&cc[0]);
    // as the Makefile protects the library: it reads files of strangers
    compile.args(&cc[1..]).args(["-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O2", "-w", "-fstack-protector-strong"]);
    compile.args(["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]);
    if !target.contains("windows") {
        compile.arg("-fPIC");
    }
    compile.args(words("CFLAGS").unwrap_or_default());
    compile.arg("-I").arg(&header).arg("-I").arg(&flat).arg("-c").arg(flat.join("flat.c")).arg("-o").arg(&object);
    run(&mut compile);
    let ar = words("AR").unwrap_or_else(|| vec!["ar".to_string()]);
    if Path::new(&archive).exists() {
        std::fs::remove_file(&archive).unwrap();
    }
    run(Command::new(&ar[0]).args(&ar[1..]).arg("rcs").arg(&archive).arg(&object));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=machsym_flat");
}
