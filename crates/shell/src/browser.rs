//! The user's web browser.

use std::path::Path;

/// Browsers that take over the terminal, which Pollux itself uses.
const TEXT_BROWSERS: [&str; 9] =
    ["curl", "elinks", "eww", "links", "links2", "lynx", "netrik", "w3m", "www-browser"];

/// Returns true if pages can be shown to the user in a browser. `lookup` reads the environment.
///
/// Not in CI, in a remote shell or without a screen, unless `BROWSER` names a program: editors set
/// it to one that opens the page on the user's own machine.
pub fn has_browser(lookup: &dyn Fn(&str) -> Option<String>) -> bool {
    let given = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
    let is_set = |name: &str| given(name).is_some();
    if is_set("NO_BROWSER")
        || is_set("CI")
        || given("DEBIAN_FRONTEND").is_some_and(|frontend| frontend == "noninteractive")
    {
        return false;
    }
    if let Some(browser) = given("BROWSER") {
        let first = browser.split([':', ' ']).next().unwrap_or_default();
        let name = Path::new(first).file_name().and_then(|name| name.to_str());
        return name.is_some_and(|name| !TEXT_BROWSERS.contains(&name));
    }
    if is_set("SSH_CONNECTION") || is_set("SSH_TTY") {
        return false;
    }
    let is_desktop = cfg!(any(target_os = "macos", windows));
    is_desktop || ["DISPLAY", "WAYLAND_DISPLAY", "MIR_SOCKET"].into_iter().any(is_set)
}

/// Opens a page in the user's browser. The browser is not a child that ends with Pollux. Blocks for
/// a moment.
///
/// # Errors
/// A message for the user: the address is not one of the web, or no browser can be started.
pub fn open_page(address: &str) -> Result<(), String> {
    if !["https://", "http://"].iter().any(|scheme| address.starts_with(scheme)) {
        return Err("only web pages can be opened".to_owned());
    }
    let mut options = webbrowser::BrowserOptions::new();
    options.with_suppress_output(true);
    webbrowser::open_browser_with_options(webbrowser::Browser::Default, address, &options)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_needs_a_screen() {
        for (variables, expected) in [
            (&[("DISPLAY", ":0")][..], true),
            (&[("WAYLAND_DISPLAY", "w")], true),
            (&[("DISPLAY", ":0"), ("CI", "true")], false),
            (&[("DISPLAY", ":0"), ("NO_BROWSER", "1")], false),
            (&[("DISPLAY", ":0"), ("DEBIAN_FRONTEND", "noninteractive")], false),
            (&[("DISPLAY", "localhost:10"), ("SSH_CONNECTION", "x")], false),
            (&[("SSH_CONNECTION", "x"), ("BROWSER", "/opt/helper.sh %s")], true),
            (&[("DISPLAY", ":0"), ("BROWSER", "www-browser")], false),
            (&[("DISPLAY", ":0"), ("BROWSER", "/usr/bin/lynx:firefox")], false),
            (&[("BROWSER", "firefox"), ("CI", "1")], false),
        ] {
            let lookup = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(has_browser(&lookup), expected, "{variables:?}");
        }
        let has_desktop = cfg!(any(target_os = "macos", windows));
        assert_eq!(has_browser(&|_| None), has_desktop);
    }

    #[test]
    fn only_web_pages_are_opened() {
        for address in ["file:///etc/passwd", "javascript:1", "--version", "", "HTTPS:x"] {
            assert!(open_page(address).is_err(), "{address}");
        }
    }
}
