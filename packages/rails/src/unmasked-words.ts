/**
 * The words that a rail's reason may have, in English and French, in lower case and without accents.
 *
 * Who pays and who is paid is in no such list: a word that is also a given name, such as "grace", must not be added.
 */
export const unmaskedWords: ReadonlySet<string> = new Set(
  `
  a about above absent accept acceptable accepted access according account accounts acquirer action activate
  activated activation active address after again agent agents aggregator airtel all allow allowance allowed allows
  already also amount amounts an and another any api app application approval approve approved approver are as ask
  assigned at attempt attempted attempts auth authentication authorisation authorise authorised authorization
  authorize authorized available away balance balances bank banks barred batch be because been before beginning
  being below beneficiaries beneficiary between biller bills blacklisted block blocked body both branch broken bulk
  business busy but by call callback came can cancel canceled cancelled cannot cap capture captured card cardholder
  cards carrier cash ceiling center centre certificate change changed channel character characters charge chargeback
  charges check checked checksum cheque clear clearing client clock close closed code codes collect collected
  collection column come comes committed complete completed completion compliance confirm confirmation confirmed
  conflict congested congestion connect connected connection contact contract core correct correspond correspondent
  corresponds could country credit credited creditor credits cumulative currencies currency current customer
  customers cut daily data database date day days deactivate deactivated debit debited debitor debits debtor
  deceased decimal decimals decline declined declines deducted default degraded delay delayed delivered denied deny
  deposit destination details dial did different digits directory disabled disallowed disapproved disconnected
  dispute disputed dns do documents does done dormant down due duplicate duplicated duplicates during each earlier
  either email empty enabled encoded encoding end ended endpoint engine enough enquiry enter entered equal equals
  error errors every exceed exceeded exceeds exception executed execution exhausted exist existing exists expected
  expire expired external fail failed fails failure family fault fee fees few field fields figure figures file final
  financial flag float for format formatted found fraud frequency from frozen full funding funds future gateway
  general generic get given gone greater group had handler has hash have header held helpline high higher hold
  holder holds honor honour host hour hours http https id identification identifier identity if ignored immediate
  impossible in inactive incomplete inconsistent incorrect information initialized initiated initiator input inquiry
  inside institution institutions instruction instructions insufficient insufficiently integer interbank interface
  internal into invalid invalidated investigate investigation inward is issue issuer it item items its json key kind
  know known kyc large last late later launched least ledger length less lesser level lien like limit limitation
  limited limits line lines link list load local locked login long longer lost low lower made maintenance malformed
  malfunction mandate mandatory manual many mapping match matched matches maximum may means member merchant
  merchants message messages method minimum minute minutes mismatch missing mobicash mobile module modules momo
  money month monthly moov more most mpesa msisdn mtn much multiple multiples must name names need needed negative
  network never new next nil no node non nonce none not nothing notified now null number numbers object of off
  offline offnet ok old on once one only onnet open operation operator option or orange order origin original
  originator other otp our out outage outgoing outside outstanding outward over overload overloaded own page paid
  parameter parameters partial partially participant party password past path pay payee payees payer payers paying
  payment payments payout payouts pend pended pending per period permission permitted person pesa phone pin pins
  place please policy poll port ported porting positive possible post posted prefund prefunded present presented
  press previous problem process processed processing processor product profile prohibited protocol provide provided
  provider proxy purpose push query queue queued quota rail rate reach reached reactivate reactivated read reason
  recall recalled receive received receiver receivers receiving recipient record redirected refer reference
  references referral refund refunded refused register registered registration regulator regulatory reject rejected
  related released releasing remitter remote repeat repeated replaced report reported request requested requests
  required reserve reserved reset response restricted restriction restrictions result resume retried retries retry
  returned returning returns reversal reverse reversed reviewed right risk rollback rolled route routing row rows
  rule rules runtime safaricom same sanctions saved savings schedule scheduled scheme screening second seconds
  secure security see select send sender senders sending sent server service services session settled settlement
  shop should sign signature silent sim simulated simulation since single size slow slowdown small so socket
  software some sorry source specified ssl standing start started state status step steps still stolen stop stopped
  string sub submission submit submitted subscriber subscription success successful successfully supplied support
  supported suspect suspected suspended suspicious swap swapped switch syntax system systems take taken target
  technical telco telecel temporarily temporary terminal terminated test testing tests than that the their them then
  there these they this three threshold throttled throttling through tier time timed timeout times timestamp tls to
  today token too took topped total traced transaction transactions transfer transferred transfers transmission
  tried truncated try twice two type unable unacceptable unauthenticated unauthorised unauthorized unavailable
  unblock unblocked uncollected unconfirmed undefined undelivered under underway undo undone unexpected unfinished
  unidentified unknown unlisted unpaid unreachable unregistered unresponsive unspecified unsuccessful unsupported
  until unusual up upgrade upstream used user ussd valid validated validation value values velocity verification
  verified verify version via visit vodafone wait waiting waived wallet wallets warning was wave we week weekly were
  what when where whether which while window with withdrawal withdrawn within without wrong xml year yes yet you
  your zero zone

  abonne abonnement accepte acceptee agence ancien annule annulee apres argent attente au aucun aucune autorise
  autorisee autre aux avant avec banque beneficiaire bloque bloquee carte ce cette cloture cloturee compte comptes
  confirme contre credite dans de debite deja delai demande depasse depassee depuis des desactive destinataire deux
  donnees double du duree echec echoue echouee effectue effectuee emetteur en encore enregistre envoi envoye erreur
  est et etat etre existant existe expediteur expiree faible ferme fermee fonds fournisseur frais identifiant
  inactif incomplet inconnu inconnue incorrecte indisponible insuffisant insuffisante insuffisants interdit interne
  introuvable invalide la le les limite manquant marchand montant mot motif ne nombre nouveau numero operateur ou
  ouvert paiement par parametre pas passe pays plafond plus portefeuille pour probleme puis recu reessayez refuse
  refusee rejete rejetee remboursement requete reseau retour sans secret solde son succes sur systeme technique
  telephone temps transfert trop un une utilisateur valide verifie votre
  `
    .trim()
    .split(/\s+/u),
);
