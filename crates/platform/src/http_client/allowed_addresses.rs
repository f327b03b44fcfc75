//! The addresses where no public site is: tables of the RFCs, without any look-up.
//!
//! An IPv6 address may embed an IPv4 address in many ways, and a translator or the kernel itself
//! sends the packet there. So an IPv6 address is allowed only if each IPv4 address that it may
//! embed is allowed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Instance metadata of a large cloud: the IPv6 twin of 169.254.169.254, among private addresses.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Whether a name may resolve to this address. Refused are loopback, link-local, multicast, broadcast
/// and unspecified addresses and carrier-grade NAT (RFC 6598). Private networks (RFC 1918,
/// `fc00::/7`) are allowed: frontends are often in one. An address that the settings have in place of a
/// name is not asked for here: it was written on purpose.
pub(super) fn is_allowed(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_v4_allowed(address),
        IpAddr::V6(address) => is_v6_allowed(address) && embedded(address).all(is_v4_allowed),
    }
}

fn is_v4_allowed(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    // Linux takes all of 0.0.0.0/8 (RFC 1122, "this network") for this machine, or drops it.
    let unspecified = first == 0;
    let carrier_grade = first == 100 && (64..128).contains(&second);
    let special = address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast();
    !(unspecified || carrier_grade || special)
}

fn is_v6_allowed(address: Ipv6Addr) -> bool {
    let special = address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unicast_link_local();
    !special && address != METADATA
}

/// The IPv4 addresses that an IPv6 address may embed.
fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let octets = address.octets();
    let at = |positions: [usize; 4]| Ipv4Addr::from(positions.map(|position| octets[position]));
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
        // Teredo (RFC 4380): the server, and the client with its bits inverted.
        [0x2001, 0, ..] => [Some(at([4, 5, 6, 7])), Some(Ipv4Addr::from(!u32::from(last)))],
        _ => [None, None],
    };
    let found = at_end.then_some(last).into_iter().chain(prefixed.into_iter().flatten());
    found.chain(local_nat64(octets))
}

/// NAT64 by `64:ff9b:1::/48` (RFC 8215), whose prefix length is the network's choice: every position
/// where RFC 6052, section 2.2, may put the IPv4 address with only zeros behind it. An address in
/// 0.0.0.0/8 is the zeros of another prefix length: no packet is translated to it.
fn local_nat64(octets: [u8; 16]) -> impl Iterator<Item = Ipv4Addr> {
    const POSITIONS: [[usize; 4]; 4] =
        [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]];
    let is_local = octets.starts_with(&[0, 0x64, 0xff, 0x9b, 0, 1]);
    let positions = POSITIONS.into_iter().filter(move |positions| {
        is_local && octets[positions[3] + 1..].iter().all(|octet| *octet == 0)
    });
    let found =
        positions.map(move |positions| Ipv4Addr::from(positions.map(|position| octets[position])));
    found.filter(|address| address.octets()[0] != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str) -> bool {
        is_allowed(text.parse().expect(text))
    }

    #[test]
    fn public_and_private_addresses_are_allowed() {
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
            assert!(allowed(text), "{text}");
        }
    }

    #[test]
    fn special_addresses_are_not_allowed() {
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
            assert!(!allowed(text), "{text}");
        }
    }

    #[test]
    fn address_that_embeds_a_special_one_is_not_allowed() {
        for bad in ["127.0.0.1", "0.0.0.0", "169.254.169.254", "100.64.0.1", "224.0.0.1"] {
            let octets = bad.parse::<Ipv4Addr>().unwrap().octets();
            let [a, b, c, d] = octets;
            let inverted = Ipv6Addr::from(u128::from(!u32::from_be_bytes(octets)));
            let [.., high, low] = inverted.segments();
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
                assert!(!allowed(&text), "{text}");
            }
        }
    }

    #[test]
    fn every_prefix_length_of_local_nat64_is_read() {
        for bad in ["127.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"] {
            let [a, b, c, d] = bad.parse::<Ipv4Addr>().unwrap().octets();
            for text in [
                format!("64:ff9b:1:{a:02x}{b:02x}:00{c:02x}:{d:02x}00::"),
                format!("64:ff9b:1:aa{a:02x}:00{b:02x}:{c:02x}{d:02x}::"),
                format!("64:ff9b:1:aabb:00{a:02x}:{b:02x}{c:02x}:{d:02x}00:0"),
                format!("64:ff9b:1:aabb:cc:ddee:{bad}"),
            ] {
                assert!(!allowed(&text), "{text}");
            }
        }
    }
}
