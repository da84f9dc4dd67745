# Percuss: `make run` and `make test` do all the set-up on a fresh Debian machine; `make help` lists the rest.

CASE ?= cases/bar_impact
ARGS ?=
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

BUILD_PACKAGES := gcc libc6-dev make cmake pkg-config libsuitesparse-dev libopenblas0-serial libyaml-dev \
    libsundials-dev libarpack2-dev libpetsc-real-dev openmpi-bin
BENCH_PACKAGES := $(BUILD_PACKAGES) libcmocka-dev
TEST_PACKAGES := $(BENCH_PACKAGES) python3 python3-numpy python3-yaml python3-vtk9 clang-format valgrind

# Installs what is missing of the packages $(1). Elsewhere than on Debian it says what is needed and goes on:
# CMake names whatever it cannot find.
define need
@if ! command -v dpkg-query >/dev/null 2>&1; then \
    echo "This is not a Debian system. Needed are the equivalents of: $(strip $(1))"; exit 0; \
fi; \
have=" $$(dpkg-query -W -f='$${Package}=$${db:Status-Status} ' $(1) 2>/dev/null)"; missing=; \
for p in $(1); do case "$$have" in *" $$p=installed "*) ;; *) missing="$$missing $$p" ;; esac; done; \
[ -n "$$missing" ] || exit 0; \
if [ "$$(id -u)" = 0 ]; then as_root=env; \
elif command -v sudo >/dev/null 2>&1; then as_root="sudo env"; \
else echo "Missing packages:$$missing. Install them as root: apt-get install$$missing" >&2; exit 1; fi; \
echo "Installing$$missing"; \
$$as_root DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "The package lists are not fresh; trying all the same."; \
if ! $$as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >apt.log 2>&1; then \
    tail -n 20 apt.log >&2; \
    echo "These packages could not be installed:$$missing. The whole log is in apt.log" >&2; exit 1; \
fi; rm -f apt.log
endef

.PHONY: run build test study work-precision bench bench-siconos fuzz asan valgrind format tidy install clean help \
        build-packages bench-packages test-packages

run: build ## build and run a case: make run CASE=cases/... ARGS="--set time.end=1"
	@$(BUILD)/percuss run $(CASE) $(ARGS)

build: build-packages ## build the program build/percuss
	@[ -f $(BUILD)/CMakeCache.txt ] || cmake -S . -B $(BUILD) -DPERCUSS_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target percuss_program -- --no-print-directory -s

test: test-packages ## build and run the whole test suite
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory -s
	@ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure

study: bench-packages ## run the slow refinement studies
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory -s
	@for s in $(BUILD)/tests/study_*; do "$$s" || exit 1; done

work-precision: bench-packages ## error against cost of the schemes, as CSV and picture
	$(call need,gnuplot-nox)
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target study_work_precision -- --no-print-directory -s
	@$(BUILD)/tests/study_work_precision $(BUILD)/work_precision.csv
	@gnuplot -e "input='$(BUILD)/work_precision.csv'; output='$(BUILD)/work_precision.png'" tests/study/work_precision.gp
	@echo "Picture in $(BUILD)/work_precision.png"

bench: bench-packages ## measure the time loop beside its yardsticks
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory -s
	@for b in $(BUILD)/tests/bench_*; do "$$b" || exit 1; done

bench-siconos: build ## run the same bar in Siconos and compare time and solution
	$(call need,python3 python3-numpy python3-siconos)
	@/usr/bin/python3 tests/bench/siconos_bar.py $(BUILD)/percuss

fuzz: bench-packages ## feed the case reader with damaged files for a minute, under sanitizers
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --parallel $(JOBS) --target fuzz_case -- --no-print-directory -s
	@cd build-asan && ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 tests/fuzz_case 60 ../cases/*/case.yaml

asan: test-packages ## run the tests with address and undefined-behaviour sanitizers
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --parallel $(JOBS) -- --no-print-directory -s
	@ctest --preset asan --parallel $(JOBS)

valgrind: build ## check a short run for leaks and bad reads
	$(call need,valgrind)
	@valgrind --quiet --error-exitcode=9 --leak-check=full $(BUILD)/percuss run $(CASE) --quiet -o $(BUILD)/valgrind $(ARGS)

SOURCES = $(shell git ls-files 'src/*.[ch]' 'elements/*.[ch]' 'mesh/*.[ch]' 'tests/*.[ch]')

format: ## format the C sources
	$(call need,clang-format)
	@clang-format -i $(SOURCES)

tidy: build ## static analysis with clang-tidy
	$(call need,clang-tidy)
	@clang-tidy --quiet -p $(BUILD) $(filter src/%.c elements/%.c mesh/%.c,$(SOURCES))

install: build ## install program, library, header and cases: make install PREFIX=/usr/local
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## remove what was built
	@rm -rf build build-dev build-asan build-release

build-packages: ; $(call need,$(BUILD_PACKAGES))
bench-packages: ; $(call need,$(BENCH_PACKAGES))
test-packages: ; $(call need,$(TEST_PACKAGES))

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
