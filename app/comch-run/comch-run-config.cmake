# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors

# find_package(comch-run), and then
#
#   comch_add_pair_test(NAME
#       DPU  <target or program> [argument...]
#       HOST <target or program> [argument...]
#       [HOST ...]
#       [DOCA <release>] [TIMEOUT <seconds>] [OPTIONS <option of comch-run>...])
#
# A test of CTest that runs the pair with comch-run, and fails as it does: with one sentence about
# what a side waited for, if time runs out (by default after 60 s). The output of each side is
# kept in NAME.out, in the directory of the build. OPTIONS are further ones of comch-run, such as
# --fault host:again=1/3. Targets are defined before; arguments are neither empty nor one of the words
# in capitals above, and have no semicolon.

get_filename_component(_comch_run_bin "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
find_program(COMCH_RUN NAMES comch-run HINTS "${_comch_run_bin}")
mark_as_advanced(COMCH_RUN)
unset(_comch_run_bin)
if(NOT COMCH_RUN)
	set(comch-run_FOUND FALSE)
	set(comch-run_NOT_FOUND_MESSAGE "there is no program comch-run: package comch-tools has it")
endif()

function(comch_add_pair_test name)
	set(doca "")
	set(timeout 60)
	set(options "")
	set(dpu "")
	set(hosts "")
	set(nb_hosts 0)
	set(part "")
	foreach(word IN LISTS ARGN)
		if(word MATCHES "^(DPU|HOST|DOCA|TIMEOUT|OPTIONS)$")
			set(part "${word}")
			set(is_first TRUE)
			if(part STREQUAL "HOST")
				list(APPEND hosts "---")
				math(EXPR nb_hosts "${nb_hosts} + 1")
			endif()
			continue()
		endif()
		if(part MATCHES "^(DPU|HOST)$" AND is_first AND TARGET "${word}")
			set(word "$<TARGET_FILE:${word}>")
		endif()
		set(is_first FALSE)
		if(part STREQUAL "DPU")
			list(APPEND dpu "${word}")
		elseif(part STREQUAL "HOST")
			list(APPEND hosts "${word}")
		elseif(part STREQUAL "OPTIONS")
			list(APPEND options "${word}")
		elseif(part STREQUAL "DOCA")
			set(doca --doca "${word}")
		elseif(part STREQUAL "TIMEOUT")
			set(timeout "${word}")
		else()
			message(FATAL_ERROR "comch_add_pair_test(${name}): '${word}' is before DPU, HOST, "
				"DOCA, TIMEOUT or OPTIONS")
		endif()
	endforeach()
	if("${dpu}" STREQUAL "" OR nb_hosts EQUAL 0 OR "${hosts}" MATCHES "---(;---|$)")
		message(FATAL_ERROR "comch_add_pair_test(${name}): expected DPU <program>... HOST "
			"<program>...")
	endif()
	list(FIND options --timeout at)
	if(NOT at EQUAL -1)
		message(FATAL_ERROR "comch_add_pair_test(${name}): OPTIONS --timeout: use TIMEOUT <seconds>")
	endif()
	if(NOT timeout MATCHES "^[1-9][0-9]*$")
		message(FATAL_ERROR "comch_add_pair_test(${name}): TIMEOUT ${timeout}: expected seconds")
	endif()
	add_test(NAME "${name}" COMMAND "${COMCH_RUN}" --no-colour --timeout "${timeout}"
		--out "${CMAKE_CURRENT_BINARY_DIR}/${name}.out" ${doca} ${options} -- ${dpu} ${hosts})
	# comch-run speaks first, in each run, and after valgrind has reported.
	set(runs 1)
	list(FIND options --repeat at)
	if(NOT at EQUAL -1)
		math(EXPR at "${at} + 1")
		list(GET options ${at} runs)
	endif()
	math(EXPR limit "(${timeout} + 90) * ${runs}")
	set_tests_properties("${name}" PROPERTIES TIMEOUT "${limit}")
endfunction()
