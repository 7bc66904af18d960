//! Public internet addresses, and a resolver that returns only these.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Networks that are not on the public internet: the special-purpose registry of IANA (RFC 6890 and
/// later), and the address at which virtual machines of one cloud find their host.
const PRIVATE_V4: [(Ipv4Addr, u32); 17] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Cloud metadata is at 169.254.169.254.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::BROADCAST, 32),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// Non-public IPv6 networks. Only 2000::/3 is allocated at all, and these are parts of it.
const PRIVATE_V6: [(Ipv6Addr, u32); 3] = [
    // Protocol assignments, including Teredo.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// True if an address is on the public internet. For an IPv6 address that contains an IPv4 address
/// (mapped, 6to4, NAT64), the IPv4 address decides.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            !PRIVATE_V4.iter().any(|(base, length)| {
                let ignored = 32 - length;
                bits.checked_shr(ignored) == base.to_bits().checked_shr(ignored)
            })
        }
        IpAddr::V6(address) => {
            if let Some(inner) = embedded(address) {
                return is_public(inner.into());
            }
            let bits = address.to_bits();
            let given_out = bits >> 125 == 0b001;
            given_out
                && !PRIVATE_V6.iter().any(|(base, length)| {
                    let ignored = 128 - length;
                    bits >> ignored == base.to_bits() >> ignored
                })
        }
    }
}

/// Returns the IPv4 address that an IPv6 address contains.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(joined(high, low))
        }
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

/// True if a name means this machine, or a service that clouds offer to their machines, regardless
/// of the address it resolves to.
pub(crate) fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name.is_empty()
        || name == "localhost"
        || name.ends_with(".localhost")
        || name == "metadata.google.internal"
}

/// Error for a name without any public address.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to no public address")]
pub(crate) struct NoPublicAddress;

/// DNS resolver that returns only the public addresses of a name.
pub(crate) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            if is_local_name(name.as_str()) {
                return Err(NoPublicAddress.into());
            }
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public = public(found.collect())?;
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Keeps the public addresses of a name; a connection uses no others.
fn public(found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, NoPublicAddress> {
    let any = !found.is_empty();
    let public: Vec<_> = found.into_iter().filter(|address| is_public(address.ip())).collect();
    if any && public.is_empty() { Err(NoPublicAddress) } else { Ok(public) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (address, public) in [
            ("8.8.8.8", true),
            ("93.184.216.34", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("192.0.1.1", true),
            ("223.255.255.255", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.255.255.255", false),
            ("100.64.0.1", false),
            ("100.100.100.200", false),
            ("127.0.0.1", false),
            ("127.255.0.9", false),
            ("169.254.169.254", false),
            ("168.63.129.16", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.192", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.19.255.255", false),
            ("203.0.113.5", false),
            ("224.0.0.1", false),
            ("239.255.255.250", false),
            ("255.255.255.255", false),
            ("2606:4700::1111", true),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::8.8.8.8", true),
            ("2002:808:808::1", true),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.1.2.3", false),
            ("64:ff9b::10.0.0.1", false),
            ("64:ff9b:1::1", false),
            ("2002:7f00:1::", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("100::1", false),
            ("5f00::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn names() {
        for name in ["localhost", "LOCALHOST.", "a.localhost", "", ".", "metadata.google.internal."]
        {
            assert!(is_local_name(name), "{name}");
        }
        for name in ["localhost.example", "notlocalhost", "example.com"] {
            assert!(!is_local_name(name), "{name}");
        }
    }

    #[test]
    fn a_name_is_reached_at_its_public_addresses_only() {
        let parsed = |list: &[&str]| -> Vec<SocketAddr> {
            list.iter().map(|address| address.parse().unwrap()).collect()
        };
        let mixed = parsed(&["10.0.0.1:80", "8.8.8.8:80", "[::1]:80"]);
        assert_eq!(public(mixed).unwrap(), parsed(&["8.8.8.8:80"]));
        assert!(public(parsed(&["127.0.0.1:80", "[fe80::1]:80"])).is_err());
        assert!(public(Vec::new()).unwrap().is_empty());
    }

    #[tokio::test]
    async fn this_machine_is_not_resolved() {
        for name in ["localhost", "a.localhost"] {
            assert!(PublicOnly.resolve(name.parse().unwrap()).await.is_err());
        }
    }
}
