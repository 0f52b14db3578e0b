export {
  createDirectoryAdmin,
  type DirectoryAdmin,
  type DirectoryRefusal,
  type NewMerchant,
} from './admin.ts';
export { createDirectory, type Directory } from './directory.ts';
export { hashPublicKey } from './keys.ts';
export {
  DirectoryError,
  type Merchant,
  type MerchantLimits,
  type MerchantWallet,
  type MerchantWebhooks,
} from './merchant.ts';
