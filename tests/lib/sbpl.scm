;;; sbpl.scm - decides by a profile for the sandbox of macOS, as far as sandbash writes them.
;;;
;;;     profile_cases SEED POLICIES CASES | guile -s sbpl.scm
;;;
;;; Compares with what the judge has said; a line for each case where the two differ, and a last one with
;;; the numbers.  Written from the language's description, not from the code that makes profiles:
;;; of the rules that name an operation and whose filters fit, the last counts.  Names that it does not know end it.

(use-modules (ice-9 match) (srfi srfi-1) (srfi srfi-11))

(define operations
  '(default
    file-read* file-read-data file-read-metadata file-read-xattr file-map-executable
    file-write* file-write-acl file-write-create file-write-data file-write-flags file-write-mode
    file-write-owner file-write-setugid file-write-times file-write-unlink file-write-xattr
    file-link file-ioctl ipc-posix-sem ipc-posix-shm* mach-lookup mach-task-name
    network* network-bind network-inbound network-outbound
    process-exec* process-exec process-fork process-info* pseudo-tty signal sysctl-read system-socket))

;;; --- regular expressions: a machine whose states are sets of places, made when they are needed

(define (fail . words) (for-each (lambda (w) (display w (current-error-port))) words)
  (newline (current-error-port)) (exit 2))

;; Each node is (kind next ...) in a vector; kinds: byte set, split, begin, end, done.
(define (regex-parse text)
  (let ((nodes (make-vector 64 #f)) (count 0) (at 0) (length (string-length text)))
    (define (node . parts)
      (when (= count (vector-length nodes))
        (let ((more (make-vector (* 2 count) #f)))
          (vector-move-left! nodes 0 count more 0)
          (set! nodes more)))
      (vector-set! nodes count parts)
      (set! count (+ count 1))
      (- count 1))
    (define (peek) (and (< at length) (string-ref text at)))
    (define (next!) (set! at (+ at 1)) (string-ref text (- at 1)))
    (define (byte-set chars negated)
      (let ((set (make-bitvector 256 negated)))
        (for-each (lambda (c) (bitvector-set! set c (not negated))) chars)
        set))
    (define (bitvector-set! v i x) (if x (bitvector-set-bit! v i) (bitvector-clear-bit! v i)))
    (define (parse-class)
      (let ((negated (and (eqv? (peek) #\^) (next!) #t)))
        (let loop ((chars '()))
          (let ((c (if (peek) (next!) (fail "open class in " text))))
            (cond ((eqv? c #\]) (byte-set chars negated))
                  ((and (eqv? (peek) #\-) (< (+ at 1) length)
                        (not (eqv? (string-ref text (+ at 1)) #\])))
                   (next!)
                   (let ((last (next!)))
                     (loop (append (iota (+ 1 (- (char->integer last) (char->integer c)))
                                         (char->integer c)) chars))))
                  (else (loop (cons (char->integer c) chars))))))))
    ;; a fragment is a procedure from the node that follows to its own first node
    (define (parse-atom)
      (let ((c (next!)))
        (case c
          ((#\() (let ((inner (parse-any)))
                   (unless (eqv? (peek) #\)) (fail "open group in " text))
                   (next!) inner))
          ((#\[) (let ((set (parse-class))) (lambda (to) (node 'byte set to))))
          ((#\^) (lambda (to) (node 'begin to)))
          ((#\$) (lambda (to) (node 'end to)))
          ((#\. #\* #\+ #\? #\{ #\} #\]) (fail "unexpected " c " in " text))
          (else (let ((byte (char->integer (if (eqv? c #\\) (next!) c))))
                  (lambda (to) (node 'byte (byte-set (list byte) #f) to)))))))
    (define (parse-repeated)
      (let ((atom (parse-atom)))
        (case (peek)
          ((#\*) (next!) (lambda (to) (let ((loop (node 'split 0 to)))
                                        (set-car! (cdr (vector-ref nodes loop)) (atom loop)) loop)))
          ((#\+) (next!) (lambda (to) (let* ((loop (node 'split 0 to)) (first (atom loop)))
                                        (set-car! (cdr (vector-ref nodes loop)) first) first)))
          ((#\?) (next!) (lambda (to) (node 'split (atom to) to)))
          (else atom))))
    (define (parse-sequence)
      (let loop ((parts '()))
        (if (memv (peek) '(#f #\| #\)))
            (lambda (to) (fold (lambda (part to) (part to)) to parts))
            (loop (cons (parse-repeated) parts)))))
    (define (parse-any)
      (let ((first (parse-sequence)))
        (if (eqv? (peek) #\|)
            (begin (next!) (let ((rest (parse-any)))
                             (lambda (to) (node 'split (first to) (rest to)))))
            first)))
    (let* ((whole (parse-any)) (done (node 'done)) (start (whole done)))
      (when (peek) (fail "closed group in " text))
      (cons nodes start))))

;; All places that can be reached without a byte.  With no anchor a match may begin anywhere; ours all have one.
(define (closure nodes places at-begin at-end)
  (let ((seen '()))
    (let visit ((places places))
      (for-each
       (lambda (place)
         (unless (memv place seen)
           (set! seen (cons place seen))
           (match (vector-ref nodes place)
             (('split a b) (visit (list a b)))
             (('begin to) (when at-begin (visit (list to))))
             (('end to) (when at-end (visit (list to))))
             (_ #f))))
       places))
    (sort seen <)))

(define (make-machine text)
  (match-let (((nodes . start) (regex-parse text)))
    (let ((states (make-hash-table)))
      ;; a state: its places, where each byte leads, and whether all is done if the text ends here
      (define (state places)
        (or (hash-ref states places)
            (let ((new (vector places (make-vector 256 #f)
                               (any (lambda (p) (eq? (car (vector-ref nodes p)) 'done))
                                    (closure nodes places #f #t)))))
              (hash-set! states places new)
              new)))
      (define (step from byte)
        (or (vector-ref (vector-ref from 1) byte)
            (let ((to (state (closure nodes
                                      (filter-map (lambda (p)
                                                    (match (vector-ref nodes p)
                                                      (('byte set to) (and (bitvector-bit-set? set byte) to))
                                                      (_ #f)))
                                                  (vector-ref from 0))
                                      #f #f))))
              (vector-set! (vector-ref from 1) byte to)
              to)))
      (let ((first (state (closure nodes (list start) #t #f))))
        (lambda (path)
          (let ((length (string-length path)))
            (let loop ((i 0) (at first))
              (if (= i length)
                  (vector-ref at 2)
                  (loop (+ i 1) (step at (char->integer (string-ref path i))))))))))))

(define machines (make-hash-table))

(define (regex-matcher text)
  (unless (and (string-prefix? "^" text) (string-suffix? "$" text)) (fail "no anchors in " text))
  (or (hash-ref machines text)
      (let ((machine (make-machine text))) (hash-set! machines text machine) machine)))

;;; --- profiles

(define (within? directory path)
  (or (string=? directory "/")
      (string=? directory path)
      (and (string-prefix? directory path)
           (eqv? (string-ref path (string-length directory)) #\/))))

;; A filter is a procedure that says whether it fits a path.
(define (evaluate-filter form environment parameters)
  (define (recur f) (evaluate-filter f environment parameters))
  (define (text f)
    (match f
      ((? string?) f)
      (('param name) (or (assoc-ref parameters name) (fail "no parameter " name)))))
  (match form
    ((? symbol?) (or (assq-ref environment form) (fail "nothing called " form)))
    (('subpath t) (let ((t (text t))) (lambda (path) (within? t path))))
    (('literal t) (let ((t (text t))) (lambda (path) (string=? t path))))
    (('regex t) (regex-matcher (text t)))
    (('require-all fs ...) (let ((fs (map recur fs))) (lambda (path) (every (lambda (f) (f path)) fs))))
    (('require-any fs ...) (let ((fs (map recur fs))) (lambda (path) (any (lambda (f) (f path)) fs))))
    (('require-not f) (let ((f (recur f))) (lambda (path) (not (f path)))))
    ;; about other things than files
    (((or 'remote 'local 'target) (? symbol?)) (lambda (path) #f))
    (((or 'global-name 'extension) (? string?)) (lambda (path) #f))
    (_ (fail "no filter " form))))

;; Rules are (action operations filters), the last first; the environment has names of filters and operations.
(define (evaluate forms parameters)
  (let loop ((forms forms) (environment '()) (rules '()))
    (if (null? forms)
        rules
        (match (car forms)
          (('version 1) (loop (cdr forms) environment rules))
          (('if ('not ('defined? ('quote name))) ('define name _))
           (unless (memq name operations) (fail "no operation " name))
           (loop (cdr forms) environment rules))
          (('if ('defined? ('quote name)) form)
           (unless (memq name operations) (fail "no operation " name))
           (loop (cons form (cdr forms)) environment rules))
          (('define name form)
           (loop (cdr forms)
                 (acons name (evaluate-filter form environment parameters) environment) rules))
          (((and action (or 'allow 'deny)) words ...)
           (let-values (((ops filters) (span (lambda (w) (memq w operations)) words)))
             (when (null? ops) (fail "no operation in " (car forms)))
             (loop (cdr forms) environment
                   (cons (list action ops
                               (map (lambda (f) (evaluate-filter f environment parameters)) filters))
                         rules))))
          (form (fail "no rule " form))))))

(define (names-operation? pattern operation)
  (let ((p (symbol->string pattern)) (o (symbol->string operation)))
    (or (eq? pattern 'default)
        (string=? p o)
        (and (string-suffix? "*" p) (string-prefix? (string-drop-right p 1) o)))))

(define (allows? rules operation path)
  (let loop ((rules rules))
    (match (car rules)
      ((action ops filters)
       (if (and (any (lambda (op) (names-operation? op operation)) ops)
                (or (null? filters) (any (lambda (f) (f path)) filters)))
           (eq? action 'allow)
           (loop (cdr rules)))))))

(define (read-forms text)
  (call-with-input-string text
    (lambda (port)
      (let loop ((forms '()))
        (let ((form (read port)))
          (if (eof-object? form) (reverse forms) (loop (cons form forms))))))))

(define cases 0)
(define allowed 0)
(define differ 0)

(define (compare rules operation path expected)
  (let ((found (allows? rules operation path)))
    (set! cases (+ cases 1))
    (when found (set! allowed (+ allowed 1)))
    (unless (eq? found expected)
      (set! differ (+ differ 1))
      (when (< differ 20)
        (format #t "~a ~s: the profile ~a, the judge ~a~%" operation path
                (if found "allows" "refuses") (if expected "allows" "refuses"))))))

(set-port-encoding! (current-input-port) "ISO-8859-1")
(let loop ((guard '()) (number 1))
  (match (read)
    ((? eof-object?) #t)
    (('policy rules text parameters list)
     (let* ((guard (if text (read-forms text) guard))
            (before differ)
            (all (evaluate (append (read-forms rules) guard) parameters)))
       (for-each (lambda (c) (match c ((operation path expected) (compare all operation path expected)))) list)
       (when (and (> differ before) (< before 20))
         (format #t "... by policy ~a:~%~a~%~s~%" number
                 (substring rules (string-contains rules "; files")) parameters))
       (loop guard (+ number 1))))))
(format #t "~a cases, ~a allowed, ~a differ~%" cases allowed differ)
(exit (if (or (zero? cases) (positive? differ)) 1 0))
