import { addActionsPage } from './pages/actions.ts';
import { addApprovalPages } from './pages/approvals.ts';
import { addBreakPage } from './pages/break.ts';
import { addBreakPages } from './pages/breaks.ts';
import { addClosePages } from './pages/closes.ts';
import { addConsumerPages } from './pages/consumers.ts';
import { addDeliveryPages } from './pages/delivery.ts';
import { addLedgerPages } from './pages/ledger.ts';
import { addMerchantChangePages } from './pages/merchant-changes.ts';
import { addMerchantPages } from './pages/merchants.ts';
import { addOrderPages } from './pages/order.ts';
import { addParkedPages } from './pages/parked.ts';
import { addPausePages } from './pages/pauses.ts';
import { addPaymentPage } from './pages/payment.ts';
import { addPaymentForms } from './pages/payment-forms.ts';
import { addPaymentsPage } from './pages/payments.ts';
import { addRailPages } from './pages/rails.ts';
import { addReconciliationPage } from './pages/reconciliation.ts';
import { addSandboxPages } from './pages/sandbox.ts';
import { addSearchPage } from './pages/search.ts';
import { addStatementPages } from './pages/statements.ts';
import { addTodayPage } from './pages/today.ts';
import { addUploadPage } from './pages/upload.ts';
import { addWalletPage } from './pages/wallet.ts';
import { addWebhookPages } from './pages/webhooks.ts';
import type { Sandbox } from './sandbox.ts';
import type { Routes } from './visits.ts';

/** Adds every page; that of the sandbox where there is one. */
export function addPages(routes: Routes, { sandbox }: { readonly sandbox?: Sandbox | undefined }): void {
  addTodayPage(routes);
  addActionsPage(routes);
  addSearchPage(routes);
  addPaymentsPage(routes);
  addPaymentPage(routes);
  addPaymentForms(routes);
  if (sandbox) addSandboxPages(routes, sandbox);
  addWebhookPages(routes);
  addDeliveryPages(routes);
  addParkedPages(routes);
  addConsumerPages(routes);
  addPausePages(routes);
  // Pages below /rails with names of their own come before the page of a rail.
  addRailPages(routes);
  addReconciliationPage(routes);
  addWalletPage(routes);
  addClosePages(routes);
  addUploadPage(routes);
  addStatementPages(routes);
  addBreakPages(routes);
  addBreakPage(routes);
  addApprovalPages(routes);
  addLedgerPages(routes);
  addOrderPages(routes);
  addMerchantPages(routes);
  addMerchantChangePages(routes);
}
