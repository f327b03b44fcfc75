//! Which addresses no public site is at. Pure: the tables, and nothing that looks a name up.
//!
//! An IPv6 address may stand for an IPv4 address in many ways, and a translator or the kernel
//! itself sends the packet there. So an address is as good as each IPv4 address that it may mean.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Instance metadata of a large cloud: the IPv6 twin of 169.254.169.254, among private addresses.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Whether a name may lead here: not to this machine, this link, many machines at once, nowhere,
/// or behind a carrier's translator. Private networks (RFC 1918, `fc00::/7`) are fine: front ends
/// are often in one.
pub(super) fn is_public_enough(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_v4_fine(address),
        IpAddr::V6(address) => is_v6_fine(address) && embedded(address).all(is_v4_fine),
    }
}

fn is_v4_fine(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    // Linux takes all of 0.0.0.0/8 (RFC 1122, "this network") for this machine or for nothing.
    let unspecified = first == 0;
    let carrier_grade = first == 100 && (64..128).contains(&second);
    let nobody = address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast();
    !(unspecified || carrier_grade || nobody)
}

fn is_v6_fine(address: Ipv6Addr) -> bool {
    let nobody = address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unicast_link_local();
    !nobody && address != METADATA
}

/// The IPv4 addresses that an IPv6 address may stand for.
fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let octets = address.octets();
    let at = |places: [usize; 4]| Ipv4Addr::from(places.map(|place| octets[place]));
    let last = at([12, 13, 14, 15]);
    let segments = address.segments();
    // Compatible and mapped (RFC 4291), translated (RFC 2765), NAT64 by the well-known prefix (RFC
    // 6052), ISATAP (RFC 5214) below any prefix.
    let at_end = matches!(
        segments,
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _]
            | [0, 0, 0, 0, 0xffff, 0, _, _]
            | [0x64, 0xff9b, 0, 0, 0, 0, _, _]
            | [_, _, _, _, 0 | 0x200, 0x5efe, _, _]
    );
    let prefixed = match segments {
        // 6to4 (RFC 3056).
        [0x2002, ..] => [Some(at([2, 3, 4, 5])), None],
        // Teredo (RFC 4380): the server, and the client with its bits turned over.
        [0x2001, 0, ..] => [Some(at([4, 5, 6, 7])), Some(Ipv4Addr::from(!u32::from(last)))],
        _ => [None, None],
    };
    let found = at_end.then_some(last).into_iter().chain(prefixed.into_iter().flatten());
    found.chain(local_nat64(octets))
}

/// NAT64 by `64:ff9b:1::/48` (RFC 8215), which its network cuts as it likes: all places in which
/// RFC 6052, section 2.2, may put the IPv4 address and only zeros behind it. What reads as
/// 0.0.0.0/8 is the zeros of another reading: nothing is translated to there.
fn local_nat64(octets: [u8; 16]) -> impl Iterator<Item = Ipv4Addr> {
    const PLACES: [[usize; 4]; 4] =
        [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]];
    let is_local = octets.starts_with(&[0, 0x64, 0xff, 0x9b, 0, 1]);
    let places = PLACES
        .into_iter()
        .filter(move |places| is_local && octets[places[3] + 1..].iter().all(|octet| *octet == 0));
    let read = places.map(move |places| Ipv4Addr::from(places.map(|place| octets[place])));
    read.filter(|address| address.octets()[0] != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fine(text: &str) -> bool {
        is_public_enough(text.parse().expect(text))
    }

    #[test]
    fn addresses_where_a_site_may_be() {
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "fd00::1",
            "fd00:ec2::253",
            "::ffff:93.184.216.34",
            "::ffff:10.0.0.1",
            "::93.184.216.34",
            "64:ff9b::93.184.216.34",
            "64:ff9b:1::93.184.216.34",
            "64:ff9b:1:5db8:d8:2200::",
            "2002:5db8:d822::1",
            "2001:0:5db8:d822:0:0:a247:27dd",
            "2001:db8::5efe:93.184.216.34",
            "2001:db8::7f00:1",
            "2001:1::7f00:1",
        ] {
            assert!(fine(text), "{text}");
        }
    }

    #[test]
    fn addresses_where_no_site_is() {
        for text in [
            "127.0.0.1",
            "127.255.255.255",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "169.254.0.1",
            "100.64.0.0",
            "100.127.255.255",
            "100.100.100.200",
            "224.0.0.1",
            "239.255.255.255",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "febf::1",
            "ff02::1",
            "fd00:ec2::254",
        ] {
            assert!(!fine(text), "{text}");
        }
    }

    #[test]
    fn an_embedded_address_is_as_bad_as_itself() {
        for bad in ["127.0.0.1", "0.0.0.0", "169.254.169.254", "100.64.0.1", "224.0.0.1"] {
            let octets = bad.parse::<Ipv4Addr>().unwrap().octets();
            let [a, b, c, d] = octets;
            let turned = Ipv6Addr::from(u128::from(!u32::from_be_bytes(octets)));
            let [.., high, low] = turned.segments();
            for text in [
                format!("::{bad}"),
                format!("::ffff:{bad}"),
                format!("::ffff:0:{bad}"),
                format!("64:ff9b::{bad}"),
                format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1"),
                format!("2001:0:{a:02x}{b:02x}:{c:02x}{d:02x}:0:0:a247:27dd"),
                format!("2001:0:5db8:d822:0:0:{high:x}:{low:x}"),
                format!("2002:5db8:d822::5efe:{bad}"),
                format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::5efe:93.184.216.34"),
                format!("2001:db8::5efe:{bad}"),
                format!("2001:db8::200:5efe:{bad}"),
            ] {
                assert!(!fine(&text), "{text}");
            }
        }
    }

    #[test]
    fn wherever_a_local_translator_may_look() {
        for bad in ["127.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"] {
            let [a, b, c, d] = bad.parse::<Ipv4Addr>().unwrap().octets();
            for text in [
                format!("64:ff9b:1:{a:02x}{b:02x}:00{c:02x}:{d:02x}00::"),
                format!("64:ff9b:1:aa{a:02x}:00{b:02x}:{c:02x}{d:02x}::"),
                format!("64:ff9b:1:aabb:00{a:02x}:{b:02x}{c:02x}:{d:02x}00:0"),
                format!("64:ff9b:1:aabb:cc:ddee:{bad}"),
            ] {
                assert!(!fine(&text), "{text}");
            }
        }
    }
}
