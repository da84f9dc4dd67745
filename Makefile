# Percuss: `make run` and `make test` do all the set-up on a fresh Debian machine; `make help` lists the rest.

CASE ?= cases/bar_impact
ARGS ?=
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

BUILD_PACKAGES := gcc libc6-dev make cmake pkg-config libsuitesparse-dev libopenblas0-serial libyaml-dev \
    libarpack2-dev zlib1g-dev
RANK_PACKAGES := libpetsc-real-dev openmpi-bin
BENCH_PACKAGES := $(BUILD_PACKAGES) libcmocka-dev
TEST_PACKAGES := $(BENCH_PACKAGES) python3 python3-numpy python3-pandas \
    python3-matplotlib python3-scipy python3-yaml python3-jinja2 python3-jsonschema python3-setuptools
CROSS_PACKAGES := gcc-$(if $(filter x86_64,$(shell uname -m)),aarch64,x86-64)-linux-gnu qemu-user-static mmdebstrap

# Nothing that is installed is ever removed; what is only wished for is left out with a word where it does not fit.
need := @cmake/need.sh
wish_ranks := @cmake/need.sh -w "Runs over several ranks are neither built nor tested." $(RANK_PACKAGES)
# ParaView's Python brings a VTK of its own, which does as well.
wish_vtk := @/usr/bin/python3 -c "import vtk" 2>/dev/null || cmake/need.sh -w "Frames are not read back by VTK." python3-vtk9
wish_movies := @cmake/need.sh -w "percuss view makes no movies." ffmpeg
wish_mypy := @cmake/need.sh -w "The types of the Python package are not checked." mypy
wish_shells := @cmake/need.sh -w "Completion and the page of the manual are checked in parts." zsh fish groff-base
wish_browser := @cmake/need.sh -w "Reports are not opened in a browser." chromium
wish_lintian := @cmake/need.sh -w "Packages are made and not judged." lintian
wish_format := @cmake/need.sh -w "The format of the sources is not checked." clang-format

.PHONY: run build test variants cross study work-precision bench bench-siconos fuzz faults plant asan valgrind format tidy \
        count claims docs gallery install package package-test clean help build-packages bench-packages test-packages

run: build ## build and run a case: make run CASE=cases/... ARGS="--set time.end=1"
	@$(BUILD)/percuss run $(CASE) $(ARGS)

build: build-packages ## build the program build/percuss
	@[ -f $(BUILD)/CMakeCache.txt ] || cmake -S . -B $(BUILD) -DPERCUSS_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target percuss_program percuss_shared percuss_texts -- --no-print-directory -s

test: test-packages ## build and run the whole test suite
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory -s
	@ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure

variants: test-packages ## compilers, options, sanitizers, rounding modes: make variants VARIANTS="clang rounding-*"
	$(need) clang
	@set -f; JOBS=$(JOBS) tests/variants/run.sh $(VARIANTS)

cross: test-packages ## build for the other architecture and test under qemu: make cross KINDS="unit contract"
	$(need) $(CROSS_PACKAGES)
	@JOBS=$(JOBS) KINDS="$(KINDS)" tests/variants/cross.sh

study: bench-packages ## run the slow refinement studies
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory -s
	@for s in $(BUILD)/tests/study_*; do "$$s" || exit 1; done
	@/usr/bin/python3 tests/study/law_steps.py $(BUILD)/percuss
	@/usr/bin/python3 tests/study/lattices.py $(BUILD)/percuss
	@/usr/bin/python3 tests/study/settling.py $(BUILD)/percuss --quick

work-precision: build ## error against time of the schemes on six kinds of problems, as table, CSV and picture
	$(need) python3 python3-numpy python3-scipy python3-matplotlib python3-siconos
	@/usr/bin/python3 tests/study/work_precision.py $(BUILD)/percuss $(BUILD)/work_precision.csv \
	    $(BUILD)/work_precision.png
	@echo "Picture in $(BUILD)/work_precision.png"

bench: bench-packages ## measure the time loop beside its yardsticks
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory -s
	@for b in $(BUILD)/tests/bench_*; do "$$b" || exit 1; done
	@/usr/bin/python3 tests/bench/bench_solvers.py $(BUILD)/percuss
	@/usr/bin/python3 tests/bench/bench_study.py $(BUILD)/percuss
	@/usr/bin/python3 tests/bench/bench_pendulum.py $(BUILD)/percuss
	@[ ! -f $(BUILD)/libpercuss_petsc.so ] || /usr/bin/python3 tests/bench/bench_scaling.py $(BUILD)/percuss
	@/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 0; for b in python cases; do \
	    /usr/bin/python3 tests/bench/bench_$$b.py $(BUILD)/percuss; done

bench-siconos: build ## run the same bar in Siconos and compare time and solution
	$(need) python3 python3-numpy python3-scipy python3-siconos
	@/usr/bin/python3 tests/bench/siconos_bar.py $(BUILD)/percuss

fuzz: test-packages ## feed the readers of files with damaged ones for a minute, under sanitizers
	$(need) clang
	@/usr/bin/python3 tests/faults/fuzz.py $(BUILD)/percuss 60

faults: test-packages ## make everything fail that can: ten minutes, or longer by make faults SECONDS=600 of each campaign
	$(need) clang
	@cmake -S . -B $(BUILD) -DPERCUSS_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target percuss_program -- --no-print-directory -s
	@/usr/bin/python3 tests/faults/run.py $(BUILD)/percuss $(SECONDS)

plant: test-packages ## plant known faults in a copy of the sources and see certificate or tests notice: make plant FAULTS="gyro"
	@/usr/bin/python3 tests/plant/plant.py $(BUILD)-plant $(FAULTS)

asan: test-packages ## run the tests with address and undefined-behaviour sanitizers
	@JOBS=$(JOBS) tests/variants/run.sh asan

valgrind: build ## check a short run for leaks and bad reads
	$(need) valgrind
	@valgrind --quiet --error-exitcode=9 --leak-check=full $(BUILD)/percuss run $(CASE) --quiet -o $(BUILD)/valgrind $(ARGS)

SOURCES = $(shell git ls-files 'src/*.[ch]' 'elements/*.[ch]' 'mesh/*.[ch]' 'tests/*.[ch]' 'docs/*.[ch]')

docs: build ## the manual as a site and as a PDF in build/docs
	$(need) python3-sphinx python3-myst-parser furo doxygen python3-breathe libjs-mathjax python3-numpy chromium
	@docs/site/make.sh $(BUILD)

gallery: build ## run all cases and variants, compare with the papers: docs/gallery/index.html
	$(need) python3 python3-yaml python3-matplotlib python3-pandas python3-jinja2
	@PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 docs/gallery/make.py $(BUILD)/percuss $(BUILD)/gallery

claims: build ## run the cases behind figures of the documents and say which have moved
	$(need) python3 python3-numpy python3-pandas
	@/usr/bin/python3 tests/python/test_claims.py $(BUILD)/percuss

format: ## format the C sources
	$(need) clang-format
	@clang-format -i $(SOURCES)

tidy: build ## static analysis with clang-tidy
	$(need) clang-tidy
	@clang-tidy --quiet -p $(BUILD) $(filter src/%.c elements/%.c mesh/%.c,$(SOURCES))

count: ## size and interfaces beside the landed figures and the goals
	@/usr/bin/python3 -B tests/lint/count.py

install: build ## install program, libraries, headers, Python package and cases: make install PREFIX=/usr/local
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@[ ! -w /etc/ld.so.cache ] || ldconfig

package: build-packages ## Debian packages in build-package: program, library, development, Python, documentation
	$(need) dpkg-dev gzip
	$(wish_lintian)
	@cmake -S . -B build-package -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_RPATH=ON -DPERCUSS_TESTS=OFF \
	    -DPERCUSS_PYTHON_DIR=lib/python3/dist-packages >/dev/null
	@cmake --build build-package --parallel $(JOBS) -- --no-print-directory -s
	@cd build-package && rm -f *.deb && cpack >cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@cd build-package && if command -v lintian >/dev/null; then lintian --allow-root --fail-on error,warning *.deb; fi
	@ls build-package/*.deb

package-test: package ## install the packages in a bare Debian 12 made for it, use them, remove them; as root
	$(need) mmdebstrap
	@tests/variants/package.sh build-package

clean: ## remove what was built
	@rm -rf build build-*

build-packages:
	$(need) $(BUILD_PACKAGES)
	$(wish_ranks)

bench-packages:
	$(need) $(BENCH_PACKAGES)
	$(wish_ranks)

test-packages:
	$(need) $(TEST_PACKAGES)
	$(wish_ranks)
	$(wish_vtk)
	$(wish_movies)
	$(wish_mypy)
	$(wish_shells)
	$(wish_browser)
	$(wish_format)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
