//! The verification of certificates by the system's roots, which are read when the first peer has sent
//! a certificate: that takes milliseconds, and many services use no `https` at all.

use std::sync::{Arc, LazyLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The verifier of webpki by the system's roots, once per process; `None`: there are none.
static VERIFIER: LazyLock<Option<Arc<WebPkiServerVerifier>>> = LazyLock::new(system_verifier);

/// Verifies certificates as [`WebPkiServerVerifier`] does.
#[derive(Debug)]
pub(super) struct SystemVerifier(pub(super) WebPkiSupportedAlgorithms);

impl ServerCertVerifier for SystemVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = VERIFIER.as_ref();
        let verifier =
            verifier.ok_or(Error::InvalidCertificate(CertificateError::UnknownIssuer))?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

fn system_verifier() -> Option<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::empty();
    // Certificates that cannot be read or parsed are left out.
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    built
        .inspect_err(|_| {
            tracing::warn!("no root certificates found: every https request will fail");
        })
        .ok()
}
