import { displayAmount } from '@pesewa/kernel';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { KnownPayment } from './payment-index.ts';
import type { Payments } from './payments.ts';
import type { HttpEnv } from './scripted-answers.ts';

/** The page behind a payment link: Pay, Cancel, and the result. */
export function createLinkRoutes(payments: Payments): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const show = async (context: Context<HttpEnv>, ownReference: string) => {
    const payment = await payments.find('collection', ownReference);
    if (payment?.terms.flow?.kind !== 'link') return context.text('There is no such payment.', 404);
    return context.html(page(payment));
  };
  const act = async (context: Context<HttpEnv>, ownReference: string, type: 'pay' | 'cancel') => {
    const payment = await payments.find('collection', ownReference);
    // A button pressed too late changes nothing: the page shows the payment's state.
    if (payment) await payments.request('collection', payment.terms.reference, { type });
    return show(context, ownReference);
  };
  app.get('/:reference', (context) => show(context, context.req.param('reference')));
  app.post('/:reference/pay', (context) => act(context, context.req.param('reference'), 'pay'));
  app.post('/:reference/cancel', (context) => act(context, context.req.param('reference'), 'cancel'));
  return app;
}

function page({ status, terms }: KnownPayment) {
  const { minor, currency } = terms.amount;
  const base = `/pay/${terms.ownReference}`;
  return html`<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Payment</title><meta name="viewport" content="width=device-width"></head>
  <body>
    <h1>${displayAmount(minor, currency)}</h1>
    <p>${status}</p>
    ${
      status === 'PENDING'
        ? html`<form method="post" action="${base}/pay"><button>Pay</button></form>
    <form method="post" action="${base}/cancel"><button>Cancel</button></form>`
        : ''
    }
  </body>
</html>`;
}
