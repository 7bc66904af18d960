use proptest::prelude::*;

use super::*;

#[test]
fn exceptions_match_hosts_suffixes_networks_and_ports() {
    let cases = [
        ("*", "http://anything/", true),
        ("example.com", "https://example.com/", true),
        ("example.com", "https://api.example.com/", true),
        ("example.com", "https://EXAMPLE.com./", true),
        ("example.com", "https://notexample.com/", false),
        (".example.com", "https://api.example.com/", true),
        ("*.example.com", "https://api.example.com/", true),
        ("example.com:8443", "https://example.com:8443/", true),
        ("example.com:8443", "https://example.com/", false),
        ("example.com:443", "https://example.com/", true),
        ("a.b, example.com", "https://example.com/", true),
        ("a.b example.com", "https://example.com/", true),
        ("127.0.0.1", "http://127.0.0.1:80/", true),
        ("127.0.0.1:81", "http://127.0.0.1:80/", false),
        ("127.0.0.1", "http://localhost/", false),
        ("10.0.0.0/8", "http://10.200.3.4/", true),
        ("10.0.0.0/8", "http://11.0.0.1/", false),
        ("0.0.0.0/0", "http://11.0.0.1/", true),
        ("::1", "http://[::1]:9/", true),
        ("[::1]:9", "http://[::1]:9/", true),
        ("[::1]:8", "http://[::1]:9/", false),
        ("fd00::/8", "http://[fd12::1]/", true),
        ("10.0.0.0/8", "http://[::ffff:10.1.1.1]/", true),
        ("", "http://a/", false),
        (",, /,:,10.0.0.0/x,1/2/3", "http://a/", false),
    ];
    for (list, url, expected) in cases {
        let url = Url::parse(url).unwrap();
        assert_eq!(NoProxy::parse(list).matches(&url), expected, "{list} {url}");
    }
}

fn rule(url: &str) -> Result<ProxyRule, Error> {
    ProxyRule::new(&ProxySetting {
        url: url.to_owned(),
        source: "HTTPS_PROXY".to_owned(),
        exceptions: String::new(),
    })
}

#[test]
fn an_address_may_lack_its_scheme() {
    assert_eq!(rule("proxy.local:3128").unwrap().name(), "http://proxy.local:3128");
    assert_eq!(rule("user:secret@proxy:3128").unwrap().name(), "http://proxy:3128");
    assert_eq!(rule("socks5h://127.0.0.1:1080").unwrap().name(), "socks5h://127.0.0.1:1080");
    assert!(rule("https://proxy").unwrap().is_https());
}

#[test]
fn what_is_no_proxy_is_refused_without_showing_the_password() {
    for url in ["ftp://user:secret@proxy", "http://", "user:secret@", "ht tp://secret"] {
        let message = rule(url).unwrap_err().to_string();
        assert!(message.starts_with("HTTPS_PROXY is not"), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

proptest! {
    #[test]
    fn any_list_can_be_read(list in "[a-z0-9.:,/*\\[\\] -]{0,60}") {
        let url = Url::parse("https://api.example.com/").unwrap();
        let _matched = NoProxy::parse(&list).matches(&url);
    }
}
