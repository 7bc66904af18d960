//! The output of a hook: any bytes give a reply or `None`, and a reply is an object without
//! anything that was not printed.

pub(crate) fn run(input: (&[u8], &[u8], Option<i32>)) {
    let (stdout, stderr, exit_code) = input;
    let Some(reply) = pollux_hooks::parse(stdout, stderr, exit_code) else { return };
    let text = serde_json::to_vec(reply.fields()).expect("a reply is JSON");
    // The same reply, printed again, is read as the same reply, with any exit code.
    let again = pollux_hooks::parse(&text, b"", Some(2)).expect("a reply is read again");
    assert_eq!(again, reply);
}
