//! QUIC settings of both sides.

use crate::error::Error;
use boring::asn1::Asn1Time;
use boring::bn::BigNum;
use boring::ec::{EcGroup, EcKey};
use boring::error::ErrorStack;
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::{PKey, Private};
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::{X509, X509Name};
use quiche::{Config, ConnectionId};

/// The stream that carries the data: the first one-way stream a client opens (RFC 9000, section 2.1).
pub(crate) const STREAM: u64 = 2;

/// Flow control never limits: far above any bandwidth-delay product, bytes.
const WINDOW: u64 = 1 << 30;

/// Silence after which a side gives up, milliseconds: longer than the outages of cellular traces.
const IDLE_TIMEOUT_MS: u64 = 300_000;

/// The sender, which connects. It believes any certificate: both sides belong to one experiment.
pub(crate) fn client(congestion_control: &str, max_datagram: usize) -> Result<Config, Error> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION).map_err(|error| Error::failed("TLS", error))?;
    config.verify_peer(false);
    config
        .set_cc_algorithm_name(congestion_control)
        .map_err(|error| Error::failed(format!("--cc {congestion_control:?}"), error))?;
    config.enable_pacing(true);
    config.set_max_send_udp_payload_size(max_datagram);
    common(config)
}

/// The receiver, with a certificate made for this process.
pub(crate) fn server() -> Result<Config, Error> {
    let context = tls_context().map_err(|error| Error::failed("certificate", error))?;
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, context)
        .map_err(|error| Error::failed("TLS", error))?;
    config.set_initial_max_data(WINDOW);
    config.set_initial_max_stream_data_uni(WINDOW);
    config.set_initial_max_streams_uni(1);
    config.set_max_connection_window(WINDOW);
    config.set_max_stream_window(WINDOW);
    common(config)
}

/// A new random connection identifier.
pub(crate) fn connection_id() -> Result<ConnectionId<'static>, Error> {
    let mut bytes = vec![0; quiche::MAX_CONN_ID_LEN];
    boring::rand::rand_bytes(&mut bytes).map_err(|error| Error::failed("random numbers", error))?;
    Ok(ConnectionId::from_vec(bytes))
}

fn common(mut config: Config) -> Result<Config, Error> {
    config.set_application_protos(&[b"dumbbell"]).map_err(|error| Error::failed("TLS", error))?;
    config.set_max_idle_timeout(IDLE_TIMEOUT_MS);
    config.set_disable_active_migration(true);
    // Probes would be packets of other sizes than the experiment asked for.
    config.discover_pmtu(false);
    Ok(config)
}

fn tls_context() -> Result<SslContextBuilder, ErrorStack> {
    let (certificate, key) = self_signed()?;
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_certificate(&certificate)?;
    context.set_private_key(&key)?;
    Ok(context)
}

fn self_signed() -> Result<(X509, PKey<Private>), ErrorStack> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
    let mut name = X509Name::builder()?;
    name.append_entry_by_text("CN", "dumbbell")?;
    let name = name.build();
    let serial = BigNum::from_u32(1)?.to_asn1_integer()?;
    let not_before = Asn1Time::days_from_now(0)?;
    let not_after = Asn1Time::days_from_now(30)?;

    let mut certificate = X509::builder()?;
    certificate.set_version(2)?; // X.509 version 3
    certificate.set_serial_number(&serial)?;
    certificate.set_subject_name(&name)?;
    certificate.set_issuer_name(&name)?;
    certificate.set_pubkey(&key)?;
    certificate.set_not_before(&not_before)?;
    certificate.set_not_after(&not_after)?;
    certificate.sign(&key, MessageDigest::sha256())?;
    Ok((certificate.build(), key))
}
