use super::*;

#[test]
fn kinds_by_name_and_content() {
    let png: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let text: &[u8] = b"plain text\n";
    let nul: &[u8] = b"ab\0\0\0\0cd";
    let one_nul: &[u8] = b"const k = 'a\0b';\n";
    for (name, head, kind) in [
        ("a.rs", text, FileKind::Text),
        ("Makefile", text, FileKind::Text),
        ("empty", b"", FileKind::Text),
        ("a.ts", text, FileKind::Text),
        ("a.mts", nul, FileKind::Text),
        ("a.SVG", text, FileKind::Svg),
        ("a.png", png, FileKind::Image("image/png")),
        ("a.JPG", nul, FileKind::Image("image/jpeg")),
        ("a.png", b"version https://git-lfs.github.com/spec/v1\n", FileKind::Text),
        ("shot", png, FileKind::Image("image/png")),
        ("a.pdf", b"%PDF-1.7", FileKind::Pdf),
        ("a.mp3", nul, FileKind::Audio("audio/mpeg")),
        ("a.wav", nul, FileKind::Audio("audio/wav")),
        ("a.mp4", nul, FileKind::Video("video/mp4")),
        ("a.mp4", text, FileKind::Text),
        ("a.zip", text, FileKind::Binary),
        ("a.o", nul, FileKind::Binary),
        ("data.unknown", nul, FileKind::Binary),
        ("utf16.txt", b"\xFF\xFEa\0b\0", FileKind::Text),
        ("utf32.txt", b"\0\0\xFE\xFF\0\0\0a", FileKind::Text),
        ("latin.txt", b"\xE9\xE8\xE0\xFC\xF6", FileKind::Text),
        ("colour.log", b"\x1b[31mred\x1b[0m", FileKind::Text),
        ("one.js", one_nul, FileKind::Text),
        ("list", b"a\0b.rs\0c\0", FileKind::Text),
        ("empty fields", b"a\0\0\0b and the rest\0", FileKind::Text),
        ("mostly nuls", b"a\0\0b\0\0", FileKind::Binary),
        ("nul and no utf-8", b"caf\xE9\0ol\xE9", FileKind::Binary),
        ("later.log", &[b"line\n".repeat(200), vec![0; 100]].concat(), FileKind::Text),
        ("elf", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0", FileKind::Binary),
        ("module", b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0", FileKind::Binary),
        ("noise", b"\x01\x02\x03\x04abc", FileKind::Binary),
    ] {
        assert_eq!(detect(Path::new(name), head), kind, "{name}");
    }
}
