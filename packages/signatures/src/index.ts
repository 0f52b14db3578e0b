export {
  createSigningSecret,
  digestOfBody,
  signingSecretPattern,
  signRequest,
  verifyRequest,
} from './requests.ts';
export {
  createWebhookSecret,
  type SignatureRefusal,
  signWebhook,
  verifyWebhook,
  type WebhookHeaders,
} from './webhooks.ts';
