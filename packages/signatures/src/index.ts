export {
  createWebhookSecret,
  type SignatureRefusal,
  signWebhook,
  verifyWebhook,
  type WebhookHeaders,
} from './webhooks.ts';
