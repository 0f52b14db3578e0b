import { describe, expect, it } from 'vitest';
import { collections, expectNothing, expectPending } from '../collections.ts';
import { next, payinBody, words } from './collection-requests.ts';

/** Every spelling of an address that is not public (contract 10.15): the parsed host counts. */
const inner = words(`
  127.0.0.1 localhost localhost. LOCALHOST a.localhost 127.1 0x7f.1 0177.0.0.1 2130706433 127.0.0.1.
  １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1 0 0.0.0.0
  10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 169.254.169.254 192.0.0.1 192.0.2.1
  198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
  [::] [::1] [::ffff:7f00:1] [::ffff:127.0.0.1] [::7f00:1] [64:ff9b::7f00:1] [fc00::1] [2002:7f00:1::]
  [2001:0:1::1] [fd00:ec2::254] [fe80::1] [ff02::1] [2001:db8::1]
  mongo ledger.pesewa.svc ledger.pesewa.svc.cluster.local metadata.google.internal printer.local
`);
const schemes = words(`
  javascript:alert(1) JavaScript:alert(1) data:text/html,x file:///etc/passwd ftp://a.example.com/
  gopher://a.example.com/ ws://a.example.com/ vbscript:x blob:https://a.example.com/x about:blank
  //a.example.com/x /relative a.example.com/x https:// https:/// nothing
`);
const ambiguous = [
  'https://good.example.com@bad.example.com/',
  'https://user:secret@a.example.com/',
  'https://a.example.com\\@bad.example.com/',
  'https://a.exa mple.com/',
];

async function expectRefusedUrl(field: string, url: string): Promise<void> {
  const reference = next('url');
  const answer = await collections.payin(payinBody(reference, { [field]: url }));
  await expectNothing(reference, answer, 'INVALID REQUEST', field);
  expect(answer.text).not.toContain(url);
}

describe.concurrent('contract 10.15: webhookUrl leads to the public internet', () => {
  it.each(inner)('host %s is refused', async (host) => {
    for (const url of [`https://${host}/hooks`, `http://${host}/`, `https://${host}:8443/`])
      await expectRefusedUrl('webhookUrl', url);
  });

  it.each([...schemes, ...ambiguous])('%s is refused', async (url) => {
    await expectRefusedUrl('webhookUrl', url);
  });

  it('our own services are refused, however they are listed elsewhere', async () => {
    const { collectionsUrl, ingressUrl, transferUrl, operations } = collections.scenario.stack.runFile();
    for (const url of [collectionsUrl, ingressUrl, transferUrl, ...Object.values(operations)])
      await expectRefusedUrl('webhookUrl', url);
  });

  it.each(['http://shop.example.com/', 'https://shop.example.com:8443/'])(
    '%s is refused: https on port 443 alone',
    async (webhookUrl) => {
      await expectRefusedUrl('webhookUrl', webhookUrl);
    },
  );

  it.each(['https://shop.example.com/hooks?a=b#c', 'https://8.8.8.8/hooks', 'https://shop.example.com:443/'])(
    '%s is accepted',
    async (webhookUrl) => {
      expectPending(await collections.payin(payinBody(next('url'), { webhookUrl })));
    },
  );

  it('an origin that the operator listed is accepted', async () => {
    const { simulatorUrl } = collections.scenario.stack.runFile();
    const webhookUrl = `${simulatorUrl}/merchant/demo/collections`;
    expectPending(await collections.payin(payinBody(next('url'), { webhookUrl })));
  });
});

describe.concurrent('contract 10.11: successUrl, errorUrl and cancelUrl are where a browser may go', () => {
  it.each(['successUrl', 'errorUrl', 'cancelUrl'])('%s: http and https alone', async (field) => {
    for (const url of schemes) await expectRefusedUrl(field, url);
    for (const url of ['https://shop.example.com/thanks?order=1', 'http://shop.example.com/'])
      expectPending(await collections.payin(payinBody(next('url'), { [field]: url })));
  });
});
