import { addActionsPage } from './pages/actions.ts';
import { addPaymentPage } from './pages/payment.ts';
import { addPaymentForms } from './pages/payment-forms.ts';
import { addPaymentsPage } from './pages/payments.ts';
import { addSearchPage } from './pages/search.ts';
import { addTodayPage } from './pages/today.ts';
import type { Routes } from './visits.ts';

/** Adds every page. */
export function addPages(routes: Routes): void {
  addTodayPage(routes);
  addActionsPage(routes);
  addSearchPage(routes);
  addPaymentsPage(routes);
  addPaymentPage(routes);
  addPaymentForms(routes);
}
