import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate and its private key, both in PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority of one test. */
export interface CertificateAuthority {
  /** Its own certificate in PEM, for clients to trust. */
  readonly certificate: string;
  /** Signs a certificate for servers and clients; `hosts` are names or IPv4 addresses. */
  readonly issue: (name: string, hosts?: readonly string[]) => Certificate;
}

const tag = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
} as const;
const context = (number: number, constructed: boolean): number => 0x80 + number + (constructed ? 0x20 : 0);

/** One element of DER: its tag, the length of its content, and the content. */
function der(kind: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : [0x82, Math.floor(length / 0x100), length % 0x100];
  return Buffer.concat([Buffer.from([kind, ...size]), content]);
}

const oid = (hex: string): Buffer => der(tag.oid, Buffer.from(hex, 'hex'));
const sequence = (...parts: readonly Buffer[]): Buffer => der(tag.sequence, ...parts);
const generalizedTime = (text: string): Buffer => der(0x18, Buffer.from(text, 'latin1'));
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

const nameOf = (commonName: string): Buffer =>
  sequence(der(tag.set, sequence(oid('550403'), der(tag.utf8, Buffer.from(commonName)))));

/** A certificate extension; a client must understand it if it is critical. */
function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [Buffer.from('0101ff', 'hex')] : [];
  return sequence(oid(id), ...critical, der(tag.octets, value));
}

const basicConstraints = (isAuthority: boolean): Buffer =>
  extension('551d13', true, isAuthority ? sequence(Buffer.from('0101ff', 'hex')) : sequence());

const hostNames = (hosts: readonly string[]): Buffer =>
  extension(
    '551d11',
    false,
    sequence(
      ...hosts.map((host) =>
        isIPv4(host)
          ? der(context(7, false), Buffer.from(host.split('.').map(Number)))
          : der(context(2, false), Buffer.from(host, 'latin1')),
      ),
    ),
  );

function signed(options: {
  readonly subject: string;
  readonly issuer: string;
  readonly subjectKey: KeyObject;
  readonly issuerKey: KeyObject;
  readonly extensions: readonly Buffer[];
}): string {
  const toBeSigned = sequence(
    der(context(0, true), der(tag.integer, Buffer.from([2]))),
    der(tag.integer, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    nameOf(options.issuer),
    sequence(generalizedTime('20200101000000Z'), generalizedTime('20991231235959Z')),
    nameOf(options.subject),
    createPublicKey(options.subjectKey).export({ type: 'spki', format: 'der' }),
    der(context(3, true), sequence(...options.extensions)),
  );
  const signature = sign('sha256', toBeSigned, options.issuerKey);
  const certificate = sequence(toBeSigned, ecdsaWithSha256, der(tag.bits, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/**
 * Makes an authority whose certificates are good for tests. It is written by hand (X.509 v3, P-256), because neither
 * Node nor every Java runtime can make a certificate, and not every machine has the openssl command.
 */
export function createCertificateAuthority(issuer: string): CertificateAuthority {
  const issuerKey = newKey();
  return {
    certificate: signed({
      subject: issuer,
      issuer,
      subjectKey: issuerKey,
      issuerKey,
      extensions: [basicConstraints(true)],
    }),
    issue: (subject, hosts = []) => {
      const subjectKey = newKey();
      const extensions = [basicConstraints(false), ...(hosts.length > 0 ? [hostNames(hosts)] : [])];
      return {
        certificate: signed({ subject, issuer, subjectKey, issuerKey, extensions }),
        key: subjectKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}
